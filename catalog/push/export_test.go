package push

// SetStop has flushes of p end as by a crash: before a push to a branch of our own, or
// after any push.
func (p *Pusher) SetStop(stop func(after bool) error) { p.stop = stop }

// After is after.
var After = after

// SetMost bounds the strings that all files of a component together get by itself.
func (p *Pusher) SetMost(n int64) { p.most = n }

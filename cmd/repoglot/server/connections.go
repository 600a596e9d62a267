package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/limit"
)

// The bounds of connections, of all clients together and of one client. The last
// quarter is left to clients that have few.
const (
	maxConnections, clientConnections = 8192, 1024
	// clientReserved is what one client may have of the last quarter.
	clientReserved = 16
	// maxMonitors bounds those to metrics_listen.
	maxMonitors, clientMonitors = 64, 32
)

// connections are the bounds of the connections to one address.
type connections struct {
	pools limit.Pools // the first that has room counts
	// trusts reports whether a peer is a proxy, whose connections are those of many
	// clients: only the total bounds them. nil: none is.
	trusts func(netip.Addr) bool
}

// newConnections bounds the connections of the main address: to half of the files that
// the process may have open, if that is less.
func newConnections(files int64, trusts func(netip.Addr) bool) *connections {
	total := int64(maxConnections)
	if files > 0 {
		total = max(min(total, files/2), 16)
	}
	return &connections{
		pools: limit.Pools{
			limit.NewPool("connections", total*3/4, min(clientConnections, total/4)),
			limit.NewPool("connections_reserved", total/4, clientReserved),
		},
		trusts: trusts,
	}
}

// newMonitors bounds the connections to metrics_listen.
func newMonitors() *connections {
	return &connections{pools: limit.Pools{limit.NewPool("metrics_connections", maxMonitors, clientMonitors)}}
}

// listen counts what a listener accepts.
func (c *connections) listen(l net.Listener) net.Listener { return countedListener{l, c} }

// countedListener refuses connections that are one too many.
type countedListener struct {
	net.Listener
	bounds *connections
}

// Accept returns the next connection within the bounds.
func (l countedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		release, err := l.bounds.take(c.RemoteAddr())
		if err != nil {
			refuseConnection(c, err)
			continue
		}
		return countedConn{c.(*net.TCPConn), sync.OnceFunc(release)}, nil
	}
}

// take counts a connection.
func (c *connections) take(from net.Addr) (release func(), err error) {
	peer, err := netip.ParseAddrPort(from.String())
	if err != nil {
		peer = netip.AddrPort{} // all such are one client
	}
	client := limit.Address(peer.Addr())
	if c.trusts != nil && c.trusts(peer.Addr().Unmap()) {
		client = "proxy " + strconv.Itoa(int(peer.Port())) // each has its own share
	}
	var lease *limit.Lease
	for _, pool := range c.pools {
		lease = pool.Lease(client)
		if err = lease.Take(1); !errors.Is(err, limit.ErrFull) {
			break
		}
	}
	return lease.Release, err
}

// refuseConnection answers whatever will be asked. The answer fits into the buffer of a
// new connection.
func refuseConnection(c net.Conn, err error) {
	defer c.Close()
	status, detail, code, kind := "503 Service Unavailable", "Too many connections are open.", "error", "server_error"
	if errors.Is(err, limit.ErrShare) {
		status, detail, code, kind = "429 Too Many Requests", "This client has too many connections open.", "throttled", "client_error"
	}
	// Both forms of errors: docs/compatibility.md#errors.
	body := fmt.Sprintf(`{"detail":%q,"errors":[{"code":%q,"detail":%[1]q,"attr":null}],"type":%[3]q}`, detail, code, kind)
	_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // it is closed either way
	_, _ = c.Write([]byte("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body))
}

// countedConn is a connection that is counted until it is closed. It keeps the ways in
// which files are sent without copying.
type countedConn struct {
	*net.TCPConn
	release func()
}

// Close closes the connection.
func (c countedConn) Close() error {
	c.release()
	return c.TCPConn.Close()
}

package config

import (
	"bytes"
	"context"
	"time"
)

// lookEvery is the time between two looks at the file. What two of them find is whole:
// editors write in several steps, or replace a file by renaming.
const lookEvery = 500 * time.Millisecond

// Watch calls changed with every new configuration in the file that c was read from, and
// failed with the error of every broken one, one call at a time, until ctx is done. A file
// with the same bytes as at the last call is not reported again.
func (c *Config) Watch(ctx context.Context, environ []string, changed func(*Config), failed func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told, seen := c.source, c.source
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		data, err := readFile(c.file)
		if err != nil {
			data = []byte(err.Error()) // it stands for the contents
		}
		whole := bytes.Equal(data, seen)
		if seen = data; !whole || bytes.Equal(data, told) {
			continue
		}
		told = data
		var now *Config
		if err == nil {
			now, err = Parse(c.file, data, environ)
		}
		if err != nil {
			failed(err)
		} else {
			changed(now)
		}
	}
}

package store

import (
	"strconv"
	"strings"
)

// chunks calls fn for ids in chunks of a few fixed sizes; the last id is repeated
// to fill a chunk, which makes no difference to IN.
func chunks(ids []int64, fn func(chunk []any) error) error {
	for len(ids) > 0 {
		size := listSize(len(ids))
		n := min(size, len(ids))
		chunk := make([]any, size)
		for i := range chunk {
			chunk[i] = ids[min(i, n-1)]
		}
		if err := fn(chunk); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

func listSize(n int) int {
	for _, size := range []int{1, 8, 64} {
		if n <= size {
			return size
		}
	}
	return 256
}

// list is "($from,$from+1,…)" with n placeholders.
func list(from, n int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(from + i))
	}
	b.WriteByte(')')
	return b.String()
}

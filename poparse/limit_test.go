package poparse

import (
	"bytes"
	"syscall"
	"testing"
)

// BenchmarkLimit is what plain Go could reach at most, keeping nothing: "lines" looks
// for line ends with IndexByte and tells the kinds of lines by their first bytes;
// "strings" also looks for the quotes and backslashes of strings; the third also
// copies each file and looks for bytes that are not UTF-8, as Parse does.
func BenchmarkLimit(b *testing.B) {
	var files []blob
	size := 0
	for _, name := range benchBundles {
		more, n := bundleFiles(b, name)
		files, size = append(files, more...), size+n
	}
	for _, c := range []struct {
		name string
		read func(data []byte) int
	}{
		{"lines", func(data []byte) int { return countKinds(data, false) }},
		{"strings", func(data []byte) int { return countKinds(data, true) }},
		{"strings+utf8+copy", func(data []byte) int { return countKinds(bytes.Clone(data), true) + firstInvalid(data) }},
		{"parse", func(data []byte) int {
			_, err := Parse("x.po", data)
			if err != nil {
				return 0
			}
			return 1
		}},
	} {
		b.Run("work="+c.name, func(b *testing.B) {
			start, sum := processorSeconds(b), 0
			for b.Loop() {
				for _, f := range files {
					sum += c.read(f.data)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/1e6/(processorSeconds(b)-start), "cpu-MB/s")
			b.ReportMetric(float64(sum)/float64(b.N), "counted")
		})
	}
}

// countKinds counts lines, each by its kind.
func countKinds(data []byte, strings bool) (sum int) {
	var kinds [256]int
	for len(data) > 0 {
		line := data
		if n := bytes.IndexByte(data, '\n'); n >= 0 {
			line, data = data[:n], data[n+1:]
		} else {
			data = nil
		}
		kind := byte(0)
		if len(line) > 1 {
			if kind = line[0]; kind == '#' {
				kind = line[1]
			} else if kind == 'm' && len(line) > 3 {
				kind = line[3] // msgid, msgstr and msgctxt
			}
		}
		kinds[kind]++
		if strings && (kind == '"' || kind == 'i' || kind == 's') {
			text := shares.text(line)
			for i := bytes.IndexByte(line, '"') + 1; i < len(text); i++ {
				i = stringEnd(text, i)
				sum++
			}
		}
	}
	for i, n := range kinds {
		sum += n * (i&1 + 1)
	}
	return sum
}

// processorSeconds is the processor time of this process.
func processorSeconds(b *testing.B) float64 {
	b.Helper()
	var r syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

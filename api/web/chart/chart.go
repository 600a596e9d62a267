// Package chart draws curves, bars and sparklines as SVG.
//
// Goals: the same numbers give the same bytes; readable in the dark, in print and on
// a phone, since colours and sizes come from the style sheet of the page; nothing in
// a drawing comes from outside but numbers, and names that are escaped. Non-goals:
// the figures as a table, which pages show beside every chart.
package chart

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Series is one curve: its value on some days. Between two days it stays the same.
type Series struct {
	// Name is shown in the legend.
	Name string
	// Days are ascending, Values as many.
	Days   []time.Time
	Values []int64
}

// The drawing area of Curves, in units of the viewBox.
const (
	width, height             = 720.0, 260.0
	left, right, top, bottom  = 56.0, 8.0, 10.0, 28.0
	plotWidth, plotHeight     = width - left - right, height - top - bottom
	maxPoints                 = 240 // of a curve
	sparkWidth, sparkHeight   = 100.0, 22.0
	barWidth                  = 120.0
	weekWidth, weekPlotHeight = 10.0, 60.0
)

// Curves draws series over the time from the first day of any to until. label
// describes the drawing for those who cannot see it; number writes a number.
func Curves(label string, series []Series, until time.Time, number func(int64) string) template.HTML {
	from, most := until, int64(1)
	for i := range series {
		for j, day := range series[i].Days {
			if day.Before(from) {
				from = day
			}
			most = max(most, series[i].Values[j])
		}
	}
	span := until.Sub(from).Hours()
	if span <= 0 {
		span = 24
		from = until.Add(-24 * time.Hour)
	}
	x := func(t time.Time) float64 { return left + plotWidth*t.Sub(from).Hours()/span }
	step := niceStep(most)
	ceiling := (most + step - 1) / step * step
	y := func(v int64) float64 { return top + plotHeight*(1-float64(v)/float64(ceiling)) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, height, template.HTMLEscapeString(label))
	for v := int64(0); v <= ceiling; v += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/><text class="y" x="%g" y="%.1f">%s</text>`,
			left, width-right, y(v), y(v), left-6, y(v)+4, template.HTMLEscapeString(number(v)))
	}
	for _, tick := range ticks(from, until) {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/><text class="x" x="%.1f" y="%g">%s</text>`,
			x(tick.at), x(tick.at), top, height-bottom, x(tick.at), height-8, tick.text)
	}
	for i := range series {
		fmt.Fprintf(&b, `<path class="line c%d" d="%s"/>`, i%8, steps(&series[i], until, x, y))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// steps is the path of a curve: horizontal until its value changes.
func steps(s *Series, until time.Time, x func(time.Time) float64, y func(int64) float64) string {
	var b strings.Builder
	lastX := -10.0
	minGap := plotWidth / maxPoints
	for i, day := range s.Days {
		if i == 0 {
			fmt.Fprintf(&b, "M%.1f %.1f", x(day), y(s.Values[i]))
			lastX = x(day)
			continue
		}
		if at := x(day); at-lastX >= minGap || i == len(s.Days)-1 {
			fmt.Fprintf(&b, "H%.1fV%.1f", at, y(s.Values[i]))
			lastX = at
		}
	}
	if len(s.Days) > 0 {
		fmt.Fprintf(&b, "H%.1f", x(until))
	}
	return b.String()
}

// niceStep is the distance of about four lines up to a value: 1, 2 or 5 times a power of ten.
func niceStep(most int64) int64 {
	step := int64(1)
	for {
		for _, m := range []int64{1, 2, 5} {
			if step*m*4 >= most {
				return step * m
			}
		}
		step *= 10
	}
}

// tick is a mark on the axis of time.
type tick struct {
	at   time.Time
	text string
}

// ticks marks about six years, quarters or months.
func ticks(from, until time.Time) (out []tick) {
	months := 1
	days := until.Sub(from).Hours() / 24
	for _, m := range []int{1, 3, 6, 12, 24, 60, 120} {
		if months = m; days/30.4/float64(m) <= 6 {
			break
		}
	}
	year, month, _ := from.Date()
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	if months >= 12 {
		first = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	for at := first; !at.After(until); at = at.AddDate(0, months, 0) {
		if at.Before(from) {
			continue
		}
		layout := "2006-01"
		if months >= 12 {
			layout = "2006"
		}
		out = append(out, tick{at, at.Format(layout)})
	}
	return out
}

// Spark draws a small curve without axes from a day to another; "" without values.
func Spark(s *Series, from, until time.Time, label string) template.HTML {
	if len(s.Days) == 0 {
		return ""
	}
	most := int64(1)
	for _, v := range s.Values {
		most = max(most, v)
	}
	span := max(until.Sub(from).Hours(), 24)
	x := func(t time.Time) float64 { return max(0, sparkWidth*t.Sub(from).Hours()/span) }
	y := func(v int64) float64 { return 1 + (sparkHeight-2)*(1-float64(v)/float64(most)) }
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %g %g" preserveAspectRatio="none" role="img" aria-label="%s"><path class="line c0" d="%s"/></svg>`,
		sparkWidth, sparkHeight, template.HTMLEscapeString(label), steps(s, until, x, y)))
}

// Bar draws how much of total is translated and how much needs editing; the rest is
// left empty. It is hidden from screen readers, since numbers stand beside it.
func Bar(translated, fuzzy, total int64) template.HTML {
	if total <= 0 {
		return ""
	}
	done, part := barWidth*float64(translated)/float64(total), barWidth*float64(fuzzy)/float64(total)
	bar := fmt.Sprintf(`<svg class="bar" viewBox="0 0 120 10" preserveAspectRatio="none" aria-hidden="true"><rect class="todo" width="120" height="10"/><rect class="done" width="%.1f" height="10"/>`, done)
	if fuzzy > 0 {
		bar += fmt.Sprintf(`<rect class="fuzzy" x="%.1f" width="%.1f" height="10"/>`, done, part)
	}
	return template.HTML(bar + `</svg>`)
}

// Weeks draws a column for each week from the Monday first on.
func Weeks(label string, counts []int64) template.HTML {
	most := int64(1)
	for _, n := range counts {
		most = max(most, n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="weeks" viewBox="0 0 %g %g" preserveAspectRatio="none" role="img" aria-label="%s"><line class="grid" x1="0" x2="%g" y1="%g" y2="%g"/>`,
		weekWidth*float64(max(len(counts), 1)), weekPlotHeight+2, template.HTMLEscapeString(label), weekWidth*float64(len(counts)), weekPlotHeight+1, weekPlotHeight+1)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		h := max(1.5, weekPlotHeight*float64(n)/float64(most))
		fmt.Fprintf(&b, `<rect class="done" x="%g" y="%.1f" width="%g" height="%.1f"/>`, weekWidth*float64(i)+1, weekPlotHeight-h, weekWidth-2, h)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

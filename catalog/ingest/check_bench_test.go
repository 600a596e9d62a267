package ingest_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/checks"
)

// benchUnits is how many units one operation of BenchmarkChecks checks.
const benchUnits = 1_000_000

// BenchmarkChecks runs all checks on a million units: the units of the golden
// components, again and again, on as many goroutines as there are processors
// (-cpu 2). It splits their plural forms each time, as pulls do.
func BenchmarkChecks(b *testing.B) {
	catalogtest.NeedShared(b, sharedRepos)
	w := newGoldenWorld(b)
	var jobs []checkJob
	var last int64
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.ID != last {
			last = tr.ID
			jobs = append(jobs, checkJob{set: checks.ForTranslation(w.Languages, &catalog.Project{}, &c.Settings, tr, nil), translation: *tr})
		}
		job := &jobs[len(jobs)-1]
		job.units = append(job.units, *u)
	})
	b.ReportAllocs()
	failing := 0
	for b.Loop() {
		failing = checkAll(jobs)
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/million")
	if failing == 0 {
		b.Error("nothing fails")
	}
}

// checkJob is a translation to check.
type checkJob struct {
	set         *checks.Set
	translation catalog.Translation
	units       []catalog.Unit
}

// checkAll checks benchUnits units and returns how many of them fail.
func checkAll(jobs []checkJob) int {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	failing := make([]int, workers)
	for k := range workers {
		group.Go(func() {
			for done, i := 0, k; done < benchUnits/workers; i++ {
				job := &jobs[i%len(jobs)]
				for j := range job.units {
					u := checks.UnitOf(&job.units[j], &job.translation)
					if !job.set.Run(&u).IsZero() {
						failing[k]++
					}
				}
				done += len(job.units)
			}
		})
	}
	group.Wait()
	return failing[0]
}

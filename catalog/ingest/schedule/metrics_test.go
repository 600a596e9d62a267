package schedule

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	inFakeTime(t, Options{Workers: 4}, func(t *testing.T, p *fixture) {
		for _, c := range p.Metrics() {
			if err := registry.Register(c); err != nil {
				t.Fatal(err)
			}
		}
		gone := p.job("gone", "", 0, hang)
		jobs := []Job{
			p.job("slow", "", 0, lasting(100*time.Second, nil)), p.job("long", "", 0, lasting(2*time.Hour, nil)),
			p.job("dead", "h", time.Hour, dead), p.job("hangs", "i", 0, hang),
		}
		p.Set(append(jobs, gone))
		p.wait(time.Second)
		p.Set(jobs)
		p.wait(2*time.Hour - 2*time.Second) // long has not ended yet; dead ran eight times
		p.Set(append(jobs, p.job("hangs2", "i", 0, hang), p.job("hangs3", "i", 0, hang)))
		p.wait(0)

		answer := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		if d := cmp.Diff(wantMetrics, answer.Body.String()); d != "" {
			t.Errorf("metrics (-want +got):\n%s", d)
		}
	})
}

const wantMetrics = `# HELP repoglot_schedule_down_hosts Hosts that are taken to be unreachable.
# TYPE repoglot_schedule_down_hosts gauge
repoglot_schedule_down_hosts 1
# HELP repoglot_schedule_failing_jobs Jobs whose last run failed.
# TYPE repoglot_schedule_failing_jobs gauge
repoglot_schedule_failing_jobs 1
# HELP repoglot_schedule_queue_length Jobs that are due and wait for a worker or for their host.
# TYPE repoglot_schedule_queue_length gauge
repoglot_schedule_queue_length 1
# HELP repoglot_schedule_run_duration_seconds How long runs took that were not cancelled.
# TYPE repoglot_schedule_run_duration_seconds histogram
repoglot_schedule_run_duration_seconds_bucket{le="0.01"} 8
repoglot_schedule_run_duration_seconds_bucket{le="0.04"} 8
repoglot_schedule_run_duration_seconds_bucket{le="0.16"} 8
repoglot_schedule_run_duration_seconds_bucket{le="0.64"} 8
repoglot_schedule_run_duration_seconds_bucket{le="2.56"} 8
repoglot_schedule_run_duration_seconds_bucket{le="10.24"} 8
repoglot_schedule_run_duration_seconds_bucket{le="40.96"} 8
repoglot_schedule_run_duration_seconds_bucket{le="163.84"} 9
repoglot_schedule_run_duration_seconds_bucket{le="655.36"} 9
repoglot_schedule_run_duration_seconds_bucket{le="2621.44"} 9
repoglot_schedule_run_duration_seconds_bucket{le="+Inf"} 9
repoglot_schedule_run_duration_seconds_sum 100
repoglot_schedule_run_duration_seconds_count 9
# HELP repoglot_schedule_running Runs in progress.
# TYPE repoglot_schedule_running gauge
repoglot_schedule_running 3
# HELP repoglot_schedule_runs_total Runs that ended, by result: ok, failed, cancelled.
# TYPE repoglot_schedule_runs_total counter
repoglot_schedule_runs_total{result="cancelled"} 1
repoglot_schedule_runs_total{result="failed"} 8
repoglot_schedule_runs_total{result="ok"} 1
`

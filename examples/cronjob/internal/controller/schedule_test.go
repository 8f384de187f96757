package controller

import (
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

func TestRuns(t *testing.T) {
	at := func(clock string) time.Time {
		if clock == "" {
			return time.Time{}
		}
		moment, err := time.Parse("2006-01-02 15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	for _, tt := range []struct {
		name, schedule, after, now, latest, next string
	}{
		{"none is due yet", "*/5 * * * *", "2026-03-01 10:00:00", "2026-03-01 10:04:59", "", "2026-03-01 10:05:00"},
		{"one is due now", "*/5 * * * *", "2026-03-01 10:00:00", "2026-03-01 10:05:00", "2026-03-01 10:05:00", "2026-03-01 10:10:00"},
		{"of several that were missed, the latest", "*/5 * * * *", "2026-03-01 10:00:00", "2026-03-01 11:07:12", "2026-03-01 11:05:00", "2026-03-01 11:10:00"},
		{"years later", "* * * 1 *", "2016-03-01 10:00:00", "2026-03-01 10:00:00", "2026-01-31 23:59:00", "2027-01-01 00:00:00"},
		{"the one of before is not due again", "0 3 * * *", "2026-03-01 03:00:00", "2026-03-01 03:00:30", "", "2026-03-02 03:00:00"},
		{"a day that never comes", "0 0 30 2 *", "2026-03-01 10:00:00", "2026-03-01 10:00:00", "", ""},
		{"an interval, not over", "@every 10m", "2026-03-01 10:00:00", "2026-03-01 10:09:59", "", "2026-03-01 10:10:00"},
		{"an interval, counted from the one before", "@every 10m", "2026-03-01 10:00:01", "2026-03-01 10:35:00", "2026-03-01 10:30:01", "2026-03-01 10:40:01"},
		{"the clock was set back", "@every 10m", "2026-03-01 10:00:00", "2026-03-01 09:55:00", "", "2026-03-01 10:10:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schedule, err := cron.ParseStandard(tt.schedule)
			if err != nil {
				t.Fatal(err)
			}
			latest, next := runs(schedule, at(tt.after), at(tt.now))
			if !latest.Equal(at(tt.latest)) || !next.Equal(at(tt.next)) {
				t.Errorf("runs: %v and %v, want %s and %s", latest, next, tt.latest, tt.next)
			}
		})
	}
}

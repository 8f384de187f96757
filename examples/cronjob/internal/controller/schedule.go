package controller

import (
	"time"

	"github.com/robfig/cron/v3"
)

// runs returns the latest run after a moment that is not after now, and the first that is. They are zero where there is none.
func runs(schedule cron.Schedule, after, now time.Time) (latest, next time.Time) {
	if every, ok := schedule.(cron.ConstantDelaySchedule); ok {
		// Its runs are counted from the one before. They are on whole seconds.
		after = after.Truncate(time.Second)
		if n := now.Sub(after) / every.Delay; n > 0 {
			latest = after.Add(n * every.Delay)
			after = latest
		}
		return latest, after.Add(every.Delay)
	}
	// Look back from now, further and further, until there is a run to go forward from: a schedule only looks forward, and to follow
	// it from the last run would take long where many were missed.
	for back := time.Minute; ; back *= 2 {
		from := now.Add(-back)
		if from.Before(after) {
			from = after
		}
		for run := schedule.Next(from); !run.IsZero() && !run.After(now); run = schedule.Next(run) {
			latest = run
		}
		if !latest.IsZero() || !from.After(after) {
			return latest, schedule.Next(now)
		}
	}
}

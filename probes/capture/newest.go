package capture

import "time"

// newest is the latest moment that an object tells of something that has happened.
// Only fields that say so count: others may lie ahead, such as the day on which a
// certificate ends.
func newest(u map[string]any) time.Time {
	var t time.Time
	later := func(v any) {
		if x := moment(v); x.After(t) {
			t = x
		}
	}
	if m, ok := u["metadata"].(map[string]any); ok {
		later(m["creationTimestamp"])
		if at := moment(m["deletionTimestamp"]); !at.IsZero() {
			// It lies ahead by the grace period.
			if g, ok := m["deletionGracePeriodSeconds"].(float64); ok && g > 0 && g < 1e6 {
				at = at.Add(-time.Duration(g) * time.Second)
			}
			if at.After(t) {
				t = at
			}
		}
		fields, _ := m["managedFields"].([]any)
		for _, f := range fields {
			if f, ok := f.(map[string]any); ok {
				later(f["time"])
			}
		}
	}
	switch kind, _ := u["kind"].(string); kind {
	case "Event":
		for _, k := range []string{"firstTimestamp", "lastTimestamp", "eventTime", "deprecatedLastTimestamp"} {
			later(u[k])
		}
		if s, ok := u["series"].(map[string]any); ok {
			later(s["lastObservedTime"])
		}
	case "Lease":
		if s, ok := u["spec"].(map[string]any); ok {
			later(s["renewTime"])
		}
	}
	inStatus(u["status"], later, 0)
	return t
}

// inStatus looks for the times of a status.
func inStatus(v any, later func(any), depth int) {
	const deep = 12
	if depth > deep {
		return
	}
	switch x := v.(type) {
	case map[string]any:
		for k, v := range x {
			switch v.(type) {
			case string:
				if happened(k) {
					later(v)
				}
			case map[string]any, []any:
				inStatus(v, later, depth+1)
			}
		}
	case []any:
		for _, v := range x {
			inStatus(v, later, depth+1)
		}
	}
}

// happened says whether a field of that name holds the time of something that has happened.
func happened(field string) bool {
	switch field {
	case "lastTransitionTime", "lastUpdateTime", "lastUpdated", "lastHeartbeatTime", "lastProbeTime",
		"startTime", "startedAt", "finishedAt", "completionTime", "lastScheduleTime", "lastSuccessfulTime",
		"nodeDrainStartTime", "waitForNodeVolumeDetachStartTime", "waitForPreDrainHookStartTime", "waitForPreTerminateHookStartTime",
		"lastRestartTime", "timestamp", "createdAt":
		return true
	}
	return false
}

func moment(v any) time.Time {
	s, ok := v.(string)
	if !ok || len(s) < len("2006-01-02T15:04:05Z") || len(s) > 40 {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

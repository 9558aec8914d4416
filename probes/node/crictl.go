package node

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vksmedic/model/text"
)

// ContainerState is a container's state as the runtime has it.
type ContainerState string

// The states of a container.
const (
	Running ContainerState = "Running"
	Exited  ContainerState = "Exited"
	Created ContainerState = "Created"
	// StateUnknown is what the runtime itself calls unknown, or a word that is not known.
	StateUnknown ContainerState = "Unknown"
)

// Container is one container of a listing.
type Container struct {
	// ID is the whole id from JSON, its first 13 characters from a table.
	ID           string
	SandboxID    string
	Name         string // the container's name in its pod.
	Attempt      int
	State        ContainerState
	Created      time.Time // zero in a table.
	Age          string    // "About a minute ago"; tables only.
	Image        string
	Pod          string
	PodNamespace string
	PodUID       string
}

// Same says whether an id, whole or cut, names this container.
func (c Container) Same(id string) bool {
	const enough = 12
	n := min(len(c.ID), len(id))
	return n >= enough && c.ID[:n] == id[:n]
}

// Containers is what crictl said.
type Containers struct {
	List []Container
	// Failure is why the runtime could not be asked, in crictl's words; empty where it could.
	Failure string
	// Noise are lines that are neither.
	Noise []string
}

// Running says whether a container with that id is running; known is false where the
// runtime could not be asked.
func (c Containers) Running(id string) (running, known bool) {
	if c.Failure != "" {
		return false, false
	}
	return slices.ContainsFunc(c.List, func(x Container) bool { return x.State == Running && x.Same(id) }), true
}

// ParseContainers reads crictl ps -a, as JSON or as a table with or without its header,
// of any release, with the warnings that crictl prints before it. It also reads the table
// of docker ps -a, whose names hold the pod's.
func ParseContainers(out string) Containers {
	if len(out) > maxOutput {
		out = out[:maxOutput]
	}
	if c, ok := containersJSON(out); ok {
		return c
	}
	var c Containers
	var header []column
	for _, l := range lines(out) {
		if f, noise := runtimeComplaint(l); noise {
			if c.Failure == "" {
				c.Failure = f
			}
			c.Noise = noisy(c.Noise, l)
			continue
		}
		if h := columns(l); h != nil {
			header = h
			continue
		}
		x, ok := tableRow(l, header)
		if !ok {
			c.Noise = noisy(c.Noise, l)
			continue
		}
		if len(c.List) < maxEntries {
			c.List = append(c.List, x)
		}
	}
	return c
}

// jsonContainers is the output of crictl ps -o json (CRI's ListContainersResponse).
type jsonContainers struct {
	Containers *[]struct {
		ID           string `json:"id"`
		PodSandboxID string `json:"podSandboxId"`
		Metadata     struct {
			Name    string `json:"name"`
			Attempt int    `json:"attempt"`
		} `json:"metadata"`
		Image struct {
			Image              string `json:"image"`
			UserSpecifiedImage string `json:"userSpecifiedImage"`
		} `json:"image"`
		State     string            `json:"state"`
		CreatedAt json.RawMessage   `json:"createdAt"` // a string of nanoseconds; a number in old releases.
		Labels    map[string]string `json:"labels"`
	} `json:"containers"`
}

// containersJSON finds the JSON in the output, whatever stands before it, such as a
// warning that holds brackets itself.
func containersJSON(out string) (c Containers, ok bool) {
	const tries = 64
	start := 0
	for range tries {
		at := strings.IndexByte(out[start:], '{')
		if at < 0 {
			return Containers{}, false
		}
		at += start
		var j jsonContainers
		if err := json.NewDecoder(strings.NewReader(out[at:])).Decode(&j); err == nil && j.Containers != nil {
			for _, l := range lines(out[:at]) {
				c.Noise = noisy(c.Noise, l)
			}
			c.fill(j)
			return c, true
		}
		next := strings.IndexByte(out[at:], '\n')
		if next < 0 {
			return Containers{}, false
		}
		start = at + next
	}
	return Containers{}, false
}

func (c *Containers) fill(j jsonContainers) {
	for _, x := range *j.Containers {
		if len(c.List) >= maxEntries {
			return
		}
		created := time.Time{}
		if ns, err := strconv.ParseInt(strings.Trim(string(x.CreatedAt), `"`), 10, 64); err == nil && ns > 0 {
			created = time.Unix(0, ns).UTC()
		}
		image := x.Image.UserSpecifiedImage
		if image == "" {
			image = x.Image.Image
		}
		c.List = append(c.List, Container{
			ID: word(x.ID), SandboxID: word(x.PodSandboxID), Name: word(x.Metadata.Name), Attempt: x.Metadata.Attempt,
			State: stateOf(strings.TrimPrefix(x.State, "CONTAINER_")), Created: created, Image: word(image),
			Pod: word(x.Labels["io.kubernetes.pod.name"]), PodNamespace: word(x.Labels["io.kubernetes.pod.namespace"]), PodUID: word(x.Labels["io.kubernetes.pod.uid"]),
		})
	}
}

func word(s string) string { return text.Limit(text.Clean(s), maxLine) }

func stateOf(s string) ContainerState {
	switch strings.ToLower(s) {
	case "running":
		return Running
	case "exited":
		return Exited
	case "created":
		return Created
	}
	return StateUnknown
}

// isState says whether a cell is a state, so that rows can be told from other lines.
func isState(s string) bool {
	return stateOf(s) != StateUnknown || strings.EqualFold(s, "unknown")
}

var (
	reLogrus     = regexp.MustCompile(`^(WARN|INFO|ERRO|FATA|DEBU)\[\d{4}\]`)
	reLogrusLong = regexp.MustCompile(`^time="?\S+"? level=(warning|info|error|fatal|debug) msg=`)
	reNoRuntime  = regexp.MustCompile(`dial unix [^"\\]*?: connect: [a-z ]+|validate service connection|unable to determine runtime API version|code = Unavailable|DeadlineExceeded|connection refused`)
)

// runtimeComplaint recognises the log lines of crictl; failure is set where one says that
// the runtime could not be asked.
func runtimeComplaint(l string) (failure string, noise bool) {
	short, long := reLogrus.FindStringSubmatch(l), reLogrusLong.FindStringSubmatch(l)
	if short == nil && long == nil {
		return "", false
	}
	bad := short != nil && (short[1] == "ERRO" || short[1] == "FATA") || long != nil && (long[1] == "error" || long[1] == "fatal")
	if !bad {
		return "", true
	}
	if why := reNoRuntime.FindString(l); strings.HasPrefix(why, "dial unix") {
		return why, true
	}
	if at := strings.LastIndex(l, "dial unix "); at >= 0 {
		return text.Limit(strings.Trim(l[at:], `\" `), maxLine), true
	}
	return text.Limit(l, maxLine), true
}

// column is where a column of a table begins, in characters.
type column struct {
	name  string
	start int
}

// columns reads the header of a table of crictl.
func columns(l string) []column {
	if !strings.HasPrefix(l, "CONTAINER") || !strings.Contains(l, "STATE") {
		return nil
	}
	var out []column
	pos := 0
	for _, name := range reGap.Split(l, -1) {
		at := strings.Index(l[pos:], name)
		if at < 0 {
			return nil
		}
		out = append(out, column{name: strings.TrimSpace(name), start: pos + at})
		pos += at + len(name)
	}
	return out
}

// tableRow reads one row: by the header's columns, else by the gaps between cells.
func tableRow(l string, header []column) (Container, bool) {
	if header != nil {
		if x, ok := rowByHeader(l, header); ok {
			return x, true
		}
	}
	if x, ok := rowByGaps(l); ok {
		return x, true
	}
	return dockerRow(l)
}

func rowByHeader(l string, header []column) (x Container, ok bool) {
	r := []rune(l)
	for i, h := range header {
		if h.start >= len(r) {
			break
		}
		end := len(r)
		if i+1 < len(header) && header[i+1].start < end {
			end = header[i+1].start
		}
		// A cell that is cut in two shows that the row does not keep to the columns.
		if h.start > 0 && r[h.start-1] != ' ' {
			return Container{}, false
		}
		cell := strings.TrimSpace(string(r[h.start:end]))
		switch h.name {
		case "CONTAINER", "CONTAINER ID":
			x.ID = cell
		case "IMAGE":
			x.Image = cell
		case "CREATED":
			x.Age = cell
		case "STATE":
			if !isState(cell) {
				return Container{}, false
			}
			x.State = stateOf(cell)
		case "NAME":
			x.Name = cell
		case "ATTEMPT":
			n, err := strconv.Atoi(cell)
			if err != nil {
				return Container{}, false
			}
			x.Attempt = n
		case "POD ID":
			x.SandboxID = cell
		case "POD":
			x.Pod = cell
		case "NAMESPACE":
			x.PodNamespace = cell
		}
	}
	return x, reID.MatchString(x.ID) && x.State != "" && x.Name != ""
}

var reID = regexp.MustCompile(`^[0-9a-f]{10,64}$`)

// rowByGaps reads a row whose header is lost (grep). Its columns are, in every release,
// id, image, created, state, name, attempt, pod id, then pod and namespace in newer ones.
func rowByGaps(l string) (Container, bool) {
	const fewest = 7
	f := reGap.Split(strings.TrimSpace(l), -1)
	if len(f) < fewest || !reID.MatchString(f[0]) || !isState(f[3]) || !reID.MatchString(f[6]) {
		return Container{}, false
	}
	n, err := strconv.Atoi(f[5])
	if err != nil {
		return Container{}, false
	}
	x := Container{ID: f[0], Image: f[1], Age: f[2], State: stateOf(f[3]), Name: f[4], Attempt: n, SandboxID: f[6]}
	if len(f) > fewest {
		x.Pod = f[7]
	}
	if len(f) > fewest+1 {
		x.PodNamespace = f[8]
	}
	return x, true
}

// reDocker is the last column of docker ps: k8s_container_pod_namespace_uid_attempt.
var reDocker = regexp.MustCompile(`^k8s_([^_\s]+)_([^_\s]+)_([^_\s]+)_([^_\s]+)_(\d{1,9})$`)

func dockerRow(l string) (Container, bool) {
	f := reGap.Split(strings.TrimSpace(l), -1)
	if len(f) < 5 || !reID.MatchString(f[0]) {
		return Container{}, false
	}
	g := reDocker.FindStringSubmatch(f[len(f)-1])
	if g == nil {
		return Container{}, false
	}
	n, err := strconv.Atoi(g[5])
	if err != nil {
		return Container{}, false
	}
	x := Container{ID: f[0], Image: f[1], Age: f[3], State: StateUnknown, Name: g[1], Pod: g[2], PodNamespace: g[3], PodUID: g[4], Attempt: n}
	switch status := f[4]; {
	case strings.HasPrefix(status, "Up "):
		x.State = Running
	case strings.HasPrefix(status, "Exited"):
		x.State = Exited
	case status == "Created":
		x.State = Created
	}
	return x, true
}

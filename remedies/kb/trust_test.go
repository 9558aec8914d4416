//go:build !windows

package kb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder is a folder of own articles with one in it.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine", "articles")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "small.yaml"), smallest)
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoadDir(t *testing.T) {
	dir := folder(t)
	write(t, filepath.Join(dir, "notes.txt"), "no article")
	write(t, filepath.Join(dir, "another.yaml"), strings.Replace(smallest, "id: small", "id: another", 1))
	own, err := LoadDir(dir, testRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if a := own.For("node-not-ready"); len(a) != 2 || a[0].ID != "another" || a[0].From != dir || a[1].ID != "small" {
		t.Fatalf("got %+v", a)
	}
	program, err := Load(articles(), testRegistry())
	if err != nil {
		t.Fatal(err)
	}
	all, err := program.With(own)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.All()) != len(program.All())+2 || all.All()[0].From != "" || all.ByID("small") == nil || program.ByID("small") != nil {
		t.Errorf("together they are %+v", all.All())
	}
	if _, err := all.With(own); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "small.yaml")+`:1: the program has an article with the id "small" already`) {
		t.Errorf("the same id twice: %v", err)
	}
}

func TestLoadDirSaysWhatIsWrong(t *testing.T) {
	dir := folder(t)
	write(t, filepath.Join(dir, "small.yaml"), strings.Replace(smallest, "title: Small", "titel: Small", 1))
	write(t, filepath.Join(dir, "empty.yaml"), "")
	_, err := LoadDir(dir, testRegistry())
	want := filepath.Join(dir, "empty.yaml") + ":1: the file is empty; expected the fields of an article\n" +
		filepath.Join(dir, "small.yaml") + `:2: unknown key "titel"; did you mean "title"?`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	write(t, filepath.Join(dir, "more.yml"), smallest)
	if _, err := LoadDir(dir, testRegistry()); err == nil || !strings.Contains(err.Error(), "more.yml: the name ends in .yml; expected .yaml") {
		t.Errorf("a .yml: %v", err)
	}
	if _, err := LoadDir(filepath.Join(dir, "nowhere"), testRegistry()); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("no folder: %v", err)
	}
	if _, err := LoadDir(filepath.Join(dir, "empty.yaml"), testRegistry()); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Errorf("a file: %v", err)
	}
}

// Whoever can write to the folder, to a file in it or to a folder above decides what is offered.
func TestFolderThatOthersMayWriteTo(t *testing.T) {
	for name, c := range map[string]struct {
		path string // below the folder.
		mode os.FileMode
		ok   bool
	}{
		"the folder, its group":       {".", 0o775, false},
		"the folder, everybody":       {".", 0o757, false},
		"the folder, sticky":          {".", 0o777 | os.ModeSticky, false},
		"a file, its group":           {"small.yaml", 0o660, false},
		"a file, everybody":           {"small.yaml", 0o606, false},
		"the folder above, its group": {"..", 0o775, false},
		"the folder above, sticky":    {"..", 0o777 | os.ModeSticky, true},
		"others may read":             {"small.yaml", 0o644, true},
		"nobody else":                 {".", 0o700, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			bad := filepath.Join(dir, c.path)
			if err := os.Chmod(bad, c.mode); err != nil {
				t.Fatal(err)
			}
			_, err := LoadDir(dir, testRegistry())
			if c.ok != (err == nil) {
				t.Fatalf("got %v", err)
			}
			if !c.ok && (!strings.Contains(err.Error(), bad+" may be written to by others") || !strings.Contains(err.Error(), "chmod go-w "+bad)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFolderOfAnotherUser(t *testing.T) {
	dir, uid := folder(t), os.Getuid()
	if uid == 0 {
		uid = 12345
		if err := os.Chown(dir, uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := trustedFolder(dir, uid+1); err == nil || !strings.Contains(err.Error(), "belongs to another user") || !strings.Contains(err.Error(), "chown") {
		t.Errorf("got %v", err)
	}
}

// A link is followed, and what it leads to is held to the same.
func TestLinks(t *testing.T) {
	dir := folder(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDir(link, testRegistry()); err != nil {
		t.Errorf("a link to a folder of one's own: %v", err)
	}
	relative := filepath.Join(dir, "..", "relative")
	if err := os.Symlink(filepath.Join("..", "mine", "articles"), relative); err != nil {
		t.Fatal(err)
	}
	if resolved, err := trustedFolder(relative, os.Getuid()); err != nil || resolved != dir {
		t.Errorf("a relative link: %s, %v", resolved, err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if _, err := trustedFolder(filepath.Join(dir, "loop"), os.Getuid()); err == nil || !strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("a loop: %v", err)
	}
	open := folder(t)
	if err := os.Chmod(filepath.Dir(open), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(open, "small.yaml"), filepath.Join(dir, "linked.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDir(dir, testRegistry()); err == nil || !strings.Contains(err.Error(), filepath.Dir(open)+" may be written to by others") {
		t.Errorf("a file that is a link into an open folder: %v", err)
	}
}

func TestCheckFiles(t *testing.T) {
	dir := folder(t)
	small := filepath.Join(dir, "small.yaml")
	if err := os.Chmod(small, 0o666); err != nil {
		t.Fatal(err)
	}
	if p := Check([]string{small, dir}, testRegistry()); len(p) > 0 {
		t.Errorf("a file that is being written may be anybody's: %v", p)
	}
	write(t, filepath.Join(dir, "more.yml"), smallest)
	for arg, want := range map[string]string{
		filepath.Join(dir, "more.yml"):     "more.yml: the name ends in .yml; expected .yaml",
		filepath.Join(dir, "nowhere.yaml"): "nowhere.yaml: cannot be read",
		dir:                                "more.yml: the name ends in .yml; expected .yaml",
	} {
		p := Check([]string{arg}, testRegistry())
		if len(p) != 1 || !strings.Contains(p[0].String(), want) {
			t.Errorf("%s: got %v", arg, p)
		}
	}
}

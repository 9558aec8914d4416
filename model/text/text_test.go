package text

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "Pod app/a-0", "Pod app/a-0"},
		{"letters of other languages stay", "Müller 日本", "Müller 日本"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"private parameters", "\x1b[?1049hx\x1b[>4;2my", "xy"},
		{"colon parameters", "\x1b[38:2::1:2:3mx", "x"},
		{"title, ended by BEL", "a\x1b]0;owned\x07b", "ab"},
		{"hyperlink, ended by ST", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"clipboard in a C1 string", "a\u009d52;c;AAAA\u009cb", "ab"},
		{"device control", "a\x1bP1$r0m\x1b\\b", "ab"},
		{"C1 CSI", "a\u009b31mb", "ab"},
		{"string without an end keeps what follows", "a\x1b]0;rm -rf", "a0;rm -rf"},
		{"character set", "a\x1b(0b", "ab"},
		{"single shift", "a\x1bNb", "ab"},
		{"escape at the end", "a\x1b", "a"},
		{"broken off CSI", "a\x1b[31", "a"},
		{"control characters", "a\x00\b\x7fb", "ab"},
		{"line ends and tabs", "a\r\nb\tc\u2028d", "a  b c d"},
		{"right-to-left override", "a\u202egpj.exe\u202c", "agpj.exe"},
		{"isolates, marks and zero width", "a\u2066b\u200f\u200bc\ufeff", "abc"},
		{"not UTF-8", "a\xff\xfeb", "a��b"},
		{"raw C1 byte is not UTF-8", "a\x9b31m", "a�31m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestCleanLines(t *testing.T) {
	if got, want := CleanLines("a:\r\n\tb\x1b[2J\nc\rd"), "a:\n b\nc d"; got != want {
		t.Errorf("CleanLines = %q, want %q", got, want)
	}
}

func TestCleanIsLinear(t *testing.T) {
	// A quadratic search would need hours for this.
	in := strings.Repeat("\x1b]", 1<<20)
	if got := Clean(in); got != "" {
		t.Errorf("%d bytes are left, want none", len(got))
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]0;x\x07", "\u009d", "\x1b\x1b[", "a\u202eb", "\xc2\x9c", "\x1b]\xc2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		one, many := Clean(s), CleanLines(s)
		for _, got := range []string{one, many} {
			if !utf8.ValidString(got) {
				t.Errorf("%q is no UTF-8", got)
			}
			for _, r := range got {
				if (unicode.IsControl(r) && (r != '\n' || got == one)) || unicode.Is(unicode.Cf, r) {
					t.Errorf("%q kept %q", got, r)
				}
			}
		}
		if again := Clean(one); again != one {
			t.Errorf("Clean is not stable: %q, then %q", one, again)
		}
	})
}

func TestLimit(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aé", 2, "a…"}, {"é", 1, "…"}, {"abc", -1, "…"}, {"", 0, ""}} {
		if got := Limit(c.in, c.limit); got != c.want {
			t.Errorf("Limit(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 14, 3, 26, 0, 0, time.UTC)
	for _, c := range []struct {
		now, t time.Time
		want   string
	}{
		{now, now.Add(-72 * time.Minute), "1h12m"}, {now, now.Add(time.Minute), "0s"}, {now, time.Time{}, "?"}, {time.Time{}, now, "?"},
	} {
		if got := Since(c.now, c.t); got != c.want {
			t.Errorf("Since(%v, %v) = %q, want %q", c.now, c.t, got, c.want)
		}
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"}, {0, "0s"}, {12*time.Second + 900*time.Millisecond, "12s"}, {4*time.Minute + 59*time.Second, "4m"},
		{time.Hour, "1h"}, {72 * time.Minute, "1h12m"}, {76 * time.Hour, "3d4h"}, {14 * 24 * time.Hour, "14d"},
	} {
		if got := Age(c.d); got != c.want {
			t.Errorf("Age(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}

func TestListAndPlural(t *testing.T) {
	if got := List([]string{"a", "b", "c"}, 2); got != "a, b and 1 more" {
		t.Error(got)
	}
	if got := List([]string{"a", "b"}, 0); got != "a, b" {
		t.Error(got)
	}
	if got := Plural(1, "pod") + " " + Plural(0, "pod"); got != "1 pod 0 pods" {
		t.Error(got)
	}
}

package uitest

import "testing"

func TestMarkup(t *testing.T) {
	s := Named()
	for _, c := range []struct{ in, want string }{
		{s.Danger.Render("✖") + " web  ", "[danger]✖[/] web\n"},
		{s.Selected.Render("›" + s.DangerStrong.Render("x") + " y"), "[selected]›[danger-strong]x[/] y[/]\n"},
		{"a" + s.Muted.Render("") + "b\n\n", "ab\n"},
		{s.Match.Lip().Render("drain"), "[match]drain[/]\n"},
	} {
		if got, err := Markup(c.in); got != c.want || err != nil {
			t.Errorf("%q becomes %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	for _, bad := range []string{"\x1b[31mred", "\x1b]0;title\x07", "\x1b[2J"} {
		if _, err := Markup(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

package uitest

// Bytes are what a terminal sends for a key: its name as Bubble Tea has it (enter,
// esc, up, pgdown, ctrl+c, …) or one character.
func Bytes(name string) ([]byte, bool) {
	named := map[string]string{
		"enter": "\r",
		// In the form of the Kitty protocol, which Bubble Tea asks for: a bare escape that is
		// followed by something would be the beginning of a sequence.
		"esc": "\x1b[27u",
		"tab": "\t", "space": " ", "backspace": "\x7f",
		"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
		"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdown": "\x1b[6~", "pgdn": "\x1b[6~",
	}
	if s, ok := named[name]; ok {
		return []byte(s), true
	}
	if len(name) == len("ctrl+x") && name[:5] == "ctrl+" && name[5] >= 'a' && name[5] <= 'z' {
		return []byte{name[5] - 'a' + 1}, true
	}
	if r := []rune(name); len(r) == 1 {
		return []byte(name), true
	}
	return nil, false
}

package styles

// The signs. Each stands beside a word that says the same.
const (
	SignBad     = "✖"
	SignWarn    = "▲"
	SignInfo    = "i"
	SignOk      = "✔"
	SignUnknown = "?"
	SignQuiet   = "·"
	SignHere    = "▸"
	SignSkipped = "–"
	SignUndone  = "↩"
	SignNotSeen = "◌"
)

package doctor

// What the tests of hostile input use.
var (
	ParseNetworkConfig = func(content []byte) ([]string, error) {
		config, err := parseNetworkConfig(content)
		if err != nil {
			return nil, err
		}
		return config.programs(), nil
	}
	Refusal = func(lines []string) string {
		found, _ := refusal(lines)
		return found.text
	}
	LeftOut     = leftOut
	AwaitedIn   = awaitedIn
	ParseMounts = func(content string) int { return len(parseMounts(content)) }
	DisablesCRI = disablesCRI
)

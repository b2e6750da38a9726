/** Four kinds of rules in rotation, so that every fourth is a pattern. None matches the generated texts. */
const kinds: readonly ((at: number) => string)[] = [
  (at) =>
    at % 8 === 0
      ? `Never mention "Project Falcon ${at}" or "Condor ${at}".`
      : `No card numbers, and never mention "account ${at}".`,
  (at) => `cel:text.lowerAscii().contains("launch code ${at}") || text.contains("Red Alert ${at}")`,
  (at) => `cel:text.matches("(?i)\\\\bticket-${at}[0-9]{4,6}\\\\b")`,
  (at) =>
    at % 8 === 3
      ? 'Block hate speech and harassment.'
      : 'cel:categories["hate"] > 0.9 || pii["email"] > 3 && user != "ann"',
]

export const policyRules = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => kinds[at % kinds.length]?.(at) ?? '')

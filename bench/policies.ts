/**
 * The cost of policy evaluation in CPU microseconds per kilobyte of text: some hundred policies, half expressions and half
 * phrases, together with a deny list of a thousand terms, and how it grows with the policies and the text.
 *
 *   node bench/policies.ts [--json]
 */
import { createCelCompiler } from '../src/adapters/expressions/cel.ts'
import { re2Patterns } from '../src/adapters/expressions/re2.ts'
import { compileTerms } from '../src/domain/moderation/terms.ts'
import type { CompiledRule } from '../src/domain/policy/compiled-rule.ts'
import type { RuleFacts } from '../src/domain/policy/rule.ts'
import { createRuleCompiler } from '../src/domain/policy/rule-compiler.ts'
import { createSeeded } from '../scripts/classifier/seeded.ts'

const kilobyte = 1024
const rounds = 9
const chance = createSeeded(7)

const invent = (): string =>
  Array.from({ length: 4 + Math.floor(chance() * 6) }, () => String.fromCharCode(97 + Math.floor(chance() * 26))).join(
    '',
  )

function write(characters: number): string {
  let text = ''
  while (text.length < characters) text += `${invent()} `
  return JSON.parse(JSON.stringify(text.slice(0, characters)))
}

const compile = createRuleCompiler({ compileExpression: createCelCompiler(), patterns: re2Patterns, judge: undefined })

/** Typical rules in rotation. */
const writeRule = [
  () => `Never mention "${invent()} ${invent()}" or "${invent()}".`,
  () => `cel:text.lowerAscii().contains("${invent()}") || text.contains("${invent()}")`,
  () => `No email addresses, and never "${invent()}".`,
  () => `cel:text.matches("(?i)\\\\b${invent()}\\\\s+${invent()}\\\\b")`,
  () => 'Block hate speech and harassment.',
  () => 'cel:categories["hate"] > 0.8 || pii["email"] > 3 && user != "ann"',
]

const ruleOf = (kind: number, version: number): CompiledRule =>
  compile({ rule: writeRule[kind]?.() ?? '', versionId: `polv_${version}`, organizationId: 'org_1' })

const rulesOf = (count: number): readonly CompiledRule[] =>
  Array.from({ length: count }, (_, at) => ruleOf(at % writeRule.length, at))

const factsOf = (text: string): RuleFacts => ({
  text,
  direction: 'request',
  model: 'm',
  project: 'p',
  user: 'u',
  metadata: {},
  categories: { 'self-harm': 0, 'sexual/minors': 0, harassment: 0.1, hate: 0.2, illicit: 0, sexual: 0 },
  pii: {},
})

/** Median CPU microseconds per kilobyte. Every text is new, as in the first turn of a conversation. */
function measure(characters: number, evaluate: (text: string) => void): number {
  const perRound = Math.max(2, Math.floor((40 * kilobyte) / characters))
  const costs: number[] = []
  for (let round = -2; round < rounds; round++) {
    const texts = Array.from({ length: perRound }, () => write(characters))
    const before = process.cpuUsage()
    for (const text of texts) evaluate(text)
    const spent = process.cpuUsage(before)
    if (round >= 0) costs.push((spent.user + spent.system) / ((perRound * characters) / kilobyte))
  }
  return costs.toSorted((first, second) => first - second)[rounds >> 1] ?? 0
}

const evaluateRules =
  (rules: readonly CompiledRule[]) =>
  (text: string): void => {
    const facts = factsOf(text)
    for (const rule of rules) void rule.score(facts)
  }

const terms = compileTerms(Array.from({ length: 1_000 }, invent), re2Patterns)
const figures: Record<string, number> = { '1,000 terms, 4 KB': measure(4 * kilobyte, (text) => terms.find(text)) }
for (const count of [10, 50, 200])
  figures[`${count} policies, 4 KB`] = measure(4 * kilobyte, evaluateRules(rulesOf(count)))
for (const size of [1, 16, 64])
  figures[`200 policies, ${size} KB`] = measure(size * kilobyte, evaluateRules(rulesOf(200)))
for (const [at, kind] of [
  'phrases',
  'contains',
  'phrase and personal data',
  'pattern',
  'categories',
  'numbers',
].entries()) {
  const rules = Array.from({ length: 200 }, (_, version) => ruleOf(at, version))
  figures[`200 policies of one kind, 4 KB: ${kind}`] = measure(4 * kilobyte, evaluateRules(rules))
}

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, unit: 'CPU microseconds per KB', figures }))
} else {
  for (const [name, cost] of Object.entries(figures)) console.log(`${cost.toFixed(1).padStart(8)}  ${name}`)
}

/**
 * The cost of policy evaluation in CPU microseconds per kilobyte of text: some hundred policies, half expressions and half
 * phrases, together with a deny list of a thousand terms, and how it grows with the policies and the text. Then the CPU
 * microseconds per request of choosing the policies that apply, with exceptions and with policies in a rollout.
 *
 *   node bench/policies.ts [--json]
 */
import { setImmediate } from 'node:timers/promises'
import { createCelCompiler } from '../src/adapters/cel/cel.ts'
import { re2Patterns } from '../src/adapters/patterns/re2.ts'
import type { MaybePromise } from '../src/base/maybe-promise.ts'
import { planFor, type EvaluationContext } from '../src/domain/evaluation/plan.ts'
import { emptyRulebook, type ActivePolicy, type Rulebook } from '../src/domain/evaluation/rulebook.ts'
import { exceptionsByPolicy } from '../src/domain/exceptions/covered.ts'
import { defaultConfiguration } from '../src/domain/gateway-config/configuration.ts'
import { findingsOf } from '../src/domain/evaluation/findings.ts'
import { createPolicyPrefilters } from '../src/domain/evaluation/scan/policy-prefilter.ts'
import { createPolicyScorer } from '../src/domain/evaluation/scan/score-policies.ts'
import { perCategory } from '../src/domain/scan/classify/categories.ts'
import type { ScanResult } from '../src/domain/scan/scan.ts'
import { compileTerms } from '../src/domain/scan/detect/terms.ts'
import { initialContent } from '../src/domain/policy/content.ts'
import { createRuleCompiler } from '../src/domain/policy/rule-compiler.ts'
import { createSeeded } from '../scripts/classifier/seeded.ts'

const kilobyte = 1024
const rounds = 9
const requestsARound = 200_000
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

const compile = createRuleCompiler({ compileExpression: createCelCompiler(), judge: undefined })

/** Typical rules in rotation. */
const writeRule = [
  () => `Never mention "${invent()} ${invent()}" or "${invent()}".`,
  () => `cel:text.lowerAscii().contains("${invent()}") || text.contains("${invent()}")`,
  () => `No email addresses, and never "${invent()}".`,
  () => `cel:text.matches("(?i)\\\\b${invent()}\\\\s+${invent()}\\\\b")`,
  () => 'Block hate speech and harassment.',
  () => 'cel:categories["hate"] > 0.8 || pii["email"] > 3 && user != "ann"',
]

const policyOf = (kind: number, version: number): ActivePolicy => ({
  ...initialContent,
  id: `pol_${version}`,
  versionId: `polv_${version}`,
  version: 1,
  rule: compile({
    rule: writeRule[kind]?.() ?? '',
    versionId: `polv_${version}`,
    organizationId: 'org_1',
    judgeWindow: 'block',
  }),
})

const policiesOf = (count: number): readonly ActivePolicy[] =>
  Array.from({ length: count }, (_, at) => policyOf(at % writeRule.length, at))

const context: EvaluationContext = {
  model: 'm',
  project: 'p',
  user: 'u',
  credentialId: 'c',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: [],
  atMs: 0,
}
const scan: ScanResult = {
  classification: { scores: perCategory(() => 0.1), flagged: [] },
  termHits: [],
  personalData: [],
}
const findings = findingsOf(scan, defaultConfiguration.rules)
const pause = (): Promise<void> => setImmediate()
const scorerFor = createPolicyScorer({ cacheEntries: 0, pause, prefilterOf: createPolicyPrefilters(re2Patterns) })

/** Median CPU microseconds per kilobyte. Every text is new, as in the first turn of a conversation. */
async function measure(characters: number, evaluate: (text: string) => MaybePromise<unknown>): Promise<number> {
  const perRound = Math.max(2, Math.floor((40 * kilobyte) / characters))
  const costs: number[] = []
  for (let round = -2; round < rounds; round++) {
    const texts = Array.from({ length: perRound }, () => write(characters))
    const before = process.cpuUsage()
    for (const text of texts) await evaluate(text)
    const spent = process.cpuUsage(before)
    if (round >= 0) costs.push((spent.user + spent.system) / ((perRound * characters) / kilobyte))
  }
  return costs.toSorted((first, second) => first - second)[rounds >> 1] ?? 0
}

const scoreBy = (policies: readonly ActivePolicy[]): ((text: string) => MaybePromise<unknown>) => {
  const rulebook = { ...emptyRulebook, policies: policies.map((one) => ({ ...one, scope: 'organization' as const })) }
  const scorer = scorerFor(planFor(rulebook, context), 'request')
  return (text) => scorer.score({ text, places: [], scan, findings })
}

const terms = compileTerms(Array.from({ length: 1_000 }, invent), re2Patterns)
const figures: Record<string, number> = { '1,000 terms, 4 KB': await measure(4 * kilobyte, (text) => terms.find(text)) }
for (const count of [1, 5, 20, 50, 200])
  figures[`${count} policies, 4 KB`] = await measure(4 * kilobyte, scoreBy(policiesOf(count)))
for (const size of [1, 16, 64])
  figures[`200 policies, ${size} KB`] = await measure(size * kilobyte, scoreBy(policiesOf(200)))
for (const [at, kind] of [
  'phrases',
  'contains',
  'phrase and personal data',
  'pattern',
  'categories',
  'numbers',
].entries()) {
  const policies = Array.from({ length: 200 }, (_, version) => policyOf(at, version))
  figures[`200 policies of one kind, 4 KB: ${kind}`] = await measure(4 * kilobyte, scoreBy(policies))
}

const twenty: Rulebook = {
  ...emptyRulebook,
  policies: policiesOf(20).map((policy) => ({ ...policy, scope: 'organization' as const, mode: 'enforcing' as const })),
}
const hundredExceptions = exceptionsByPolicy(
  Array.from({ length: 100 }, (_, at) => ({
    id: `exc_${at}`,
    policyId: `pol_${at % 5}`,
    subject: { kind: 'user' as const, id: `excepted_${at}` },
    expiresAtMs: 1e15,
  })),
)
const inRollout = twenty.policies.map((policy, at) => (at < 3 ? { ...policy, rolloutPercent: 10 } : policy))
const choices: readonly (readonly [name: string, rulebook: Rulebook, users: number])[] = [
  ['choice of 20 policies', twenty, 5_000],
  ['choice of 20 policies, 100 exceptions', { ...twenty, exceptions: hundredExceptions }, 5_000],
  ['choice of 20 policies, 3 in a rollout', { ...twenty, policies: inRollout }, 5_000],
  ['choice of 20 policies, 3 in a rollout, every user new', { ...twenty, policies: inRollout }, Infinity],
]

/** Median CPU microseconds per request. */
function measureChoice(rulebook: Rulebook, users: number): number {
  const costs: number[] = []
  let sent = 0
  for (let round = -2; round < rounds; round++) {
    const before = process.cpuUsage()
    for (let at = 0; at < requestsARound; at++) planFor(rulebook, { ...context, user: `user_${sent++ % users}` })
    const spent = process.cpuUsage(before)
    if (round >= 0) costs.push((spent.user + spent.system) / requestsARound)
  }
  return costs.toSorted((first, second) => first - second)[rounds >> 1] ?? 0
}

for (const [name, rulebook, users] of choices) figures[`${name}, per request`] = measureChoice(rulebook, users)

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ node: process.version, unit: 'CPU microseconds per KB, or per request', figures }))
} else {
  for (const [name, cost] of Object.entries(figures)) console.log(`${cost.toFixed(2).padStart(8)}  ${name}`)
}

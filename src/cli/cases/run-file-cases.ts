import { hash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import type { ApiClient } from '../../app/client/api-client.ts'
import type { PolicyResourceEntry } from '../../app/client/resource-files.ts'
import {
  caseProblems,
  fileCaseOf,
  gatewayCaseProblems,
  gatewayFileCaseOf,
  type FileCase,
  type GatewayFileCase,
} from '../../app/client/file-cases.ts'
import {
  gatewayProblems,
  isEvaluableOffline,
  openOfflineCases,
  resultOfScore,
  type FileCaseResult,
  type GatewayFileCaseResult,
  type OfflineCases,
} from '../../app/offline-cases.ts'
import { isRecord } from '../../base/record.ts'
import type { EvaluationBody } from '../../http/admin/evaluate/schema.ts'
import { FileErrors, type Located, type Resources } from '../as-code/files.ts'
import { readYamlFile } from '../yaml-file.ts'

export const judgeChoices = ['skip', 'ask', 'recorded'] as const

/** How rules are evaluated that need a judge model: not at all, by the server, or by what the server answered before. */
export type JudgeChoice =
  | { readonly judge: 'skip' | 'recorded' }
  | { readonly judge: 'ask'; readonly client: ApiClient }

export type TestedCase = (FileCase & FileCaseResult) | (GatewayFileCase & GatewayFileCaseResult)

/** The cases of one policy, or of the gateway configuration. */
export type TestedSuite = {
  readonly name: string
  readonly isGateway: boolean
  readonly file: string
  readonly cases: readonly TestedCase[]
}

/** Runs all cases of the files. Throws every mistake in them together. */
export async function runFileCases(resources: Resources, choice: JudgeChoice): Promise<readonly TestedSuite[]> {
  const policies = resources.policies.filter(({ value }) => (value.cases ?? []).length > 0)
  const gateway = resources.gateway?.value.cases?.length ? resources.gateway : undefined
  if (policies.length === 0 && gateway === undefined) return []
  await using offline = openOfflineCases()
  const problems = policies.flatMap((policy) => {
    const { rule, cases = [] } = policy.value
    const ofRule = offline.problemOf(rule)
    return [
      ...(ofRule === undefined ? [] : [`${policy.at(['rule'])}: rule: ${ofRule.message}.`]),
      ...caseProblems(cases).map(({ path, message }) => `${policy.at(path)}: ${message}.`),
    ]
  })
  const ofGateway = gateway === undefined ? [] : problemsOfGateway(gateway)
  if (problems.length + ofGateway.length > 0) throw new FileErrors([...ofGateway, ...problems])
  const tested: TestedSuite[] = gateway === undefined ? [] : [await testedGateway(offline, gateway)]
  for (const policy of policies) {
    const { name, rule, cases = [] } = policy.value
    const all = cases.map(fileCaseOf)
    const results = isEvaluableOffline(rule)
      ? await offline.run(contentFields(policy.value), all)
      : await judged(policy, all, choice)
    const withResults = all.map((each, at) => ({ ...each, ...(results[at] ?? skipped) }))
    tested.push({ name, isGateway: false, file: policy.file, cases: withResults })
  }
  return tested
}

type GatewayFileEntry = NonNullable<Resources['gateway']>

const problemsOfGateway = ({ value: { cases = [], ...config }, at }: GatewayFileEntry): string[] =>
  [...gatewayProblems(config), ...gatewayCaseProblems(cases)].map(
    ({ path, message }) => `${at(path)}: ${message.replace(/\.?$/, '.')}`,
  )

async function testedGateway(
  offline: OfflineCases,
  { value: { cases = [], ...config }, file }: GatewayFileEntry,
): Promise<TestedSuite> {
  const all = cases.map(gatewayFileCaseOf)
  const results = await offline.runGateway(config, all)
  const withResults = all.map((each, at) => ({ ...each, ...(results[at] ?? { ...skipped, got: undefined }) }))
  return { name: 'Gateway configuration', isGateway: true, file, cases: withResults }
}

/** The fields that are the content of a policy. Its scope does not matter for cases without a project. */
function contentFields(entry: PolicyResourceEntry) {
  const {
    id: _id,
    cases: _cases,
    projects: _projects,
    publish: _publish,
    publish_gate: _gate,
    project_ids: _ids,
    ...fields
  } = entry
  return { ...fields, scope: 'organization' as const }
}

const notJudged = (reason: string) => ({
  state: 'not_evaluated' as const,
  got: undefined,
  score: undefined,
  reason,
  ms: 0,
})
const skipped = notJudged('judge_not_asked')

async function judged(
  policy: Located<PolicyResourceEntry>,
  cases: readonly FileCase[],
  choice: JudgeChoice,
): Promise<readonly FileCaseResult[]> {
  if (choice.judge === 'skip') return cases.map(() => skipped)
  const path = `${policy.file}.verdicts.json`
  const scores = readScores(path)
  const outcomes: FileCaseResult[] = []
  for (const each of cases) {
    const key = keyOf(policy.value, each)
    const asked = choice.judge === 'ask' ? await askServer(choice.client, policy.value, each) : undefined
    if (asked?.score !== undefined) scores.set(key, asked.score)
    const score = asked === undefined ? scores.get(key) : asked.score
    outcomes.push(
      score === undefined
        ? notJudged(asked?.reason ?? 'not_recorded')
        : { ...resultOfScore(contentFields(policy.value), each, score), ms: asked?.ms ?? 0 },
    )
  }
  if (choice.judge === 'ask') writeScores(path, scores)
  return outcomes
}

type Answer = { readonly score: number | undefined; readonly reason: string | undefined; readonly ms: number }

async function askServer(client: ApiClient, policy: PolicyResourceEntry, each: FileCase): Promise<Answer> {
  const { direction = 'request' } = policy
  const scenario = { direction: direction === 'response' ? 'response' : 'request', ...each.given }
  const body = { gateway: {}, policies: [contentFields(policy)], scenario } // a case is about this rule alone
  const { outcomes, timings } = await client.post<EvaluationBody>('/v1/organization/evaluate', body)
  const outcome = outcomes.find(({ check }) => check === 'policy')
  if (outcome?.not_evaluated === 'other_direction') return { score: 0, reason: undefined, ms: timings.evaluation_ms }
  const reason = outcome === undefined ? 'denied_earlier' : (outcome.not_evaluated ?? undefined)
  return { score: reason === undefined ? (outcome?.score_bp ?? 0) : undefined, reason, ms: timings.evaluation_ms }
}

/** A verdict counts for this rule and this text only. */
const keyOf = ({ rule, judge_window: window = 'block' }: PolicyResourceEntry, { given }: FileCase): string =>
  hash('sha256', JSON.stringify([rule, window, given]), 'base64url')

function readScores(path: string): Map<string, number> {
  const whole = existsSync(path) ? readYamlFile(path) : {}
  if (!isRecord(whole)) throw new Error(`${path}: there must be an object of scores.`)
  return new Map(Object.entries(whole).filter((each): each is [string, number] => typeof each[1] === 'number'))
}

/** Sorted, so that a run changes only the lines of verdicts that changed. */
function writeScores(path: string, scores: ReadonlyMap<string, number>): void {
  const sorted = Object.fromEntries([...scores].sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`)
}

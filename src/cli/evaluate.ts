import { readFileSync } from 'node:fs'
import { readRegularFile } from '../base/regular-file.ts'
import type { EvaluationBody } from '../http/admin/evaluate/schema.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { table } from './table.ts'

const options = {
  file: { type: 'string', short: 'f' },
  draft: { type: 'string', multiple: true },
  direction: { type: 'string' },
  model: { type: 'string' },
  project: { type: 'string' },
  user: { type: 'string' },
  target: { type: 'string' },
  'no-judge': { type: 'boolean' },
  org: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readArguments<typeof options>>['values']

export const evaluate: Command = {
  summary: 'Show what a text would get, and why',
  isRemote: true,
  usage: `gatehouse evaluate [TEXT] [-f FILE] [--draft POLICY_ID] [--direction request|response] [--model MODEL]
  [--project ID] [--user USER] [--target LABEL] [--no-judge] [--org ID] [--json]

Evaluates a text with the rules in force, as a request with it would be evaluated. Nothing is sent to a model that callers
use, nothing is stored. Without TEXT and FILE the text is read from standard input.
--draft evaluates the draft of a policy instead of its published version; it may be repeated.
--no-judge does not call the judge model, which has a cost, for rules in plain language.
--org may be left out while there is only one organization. The exit code is 0 whatever the decision is. Needs a running server.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const body = bodyOf(values, textOf(positionals[0], values.file))
    return runOnServer(context, values, async ({ client }) => {
      const response = await client.post<EvaluationBody>('/v1/organization/evaluate', body)
      return { json: response, text: report(response) }
    })
  },
}

function textOf(text: string | undefined, file: string | undefined): string {
  if (text !== undefined && file !== undefined) throw new UsageError('Give a text or a file, not both.')
  if (text !== undefined) return text
  if (file === undefined && process.stdin.isTTY) throw new UsageError('There is no text.')
  return file === undefined ? readFileSync(0, 'utf8') : readRegularFile(file)
}

const bodyOf = (values: Values, text: string): object => ({
  scenario: {
    text,
    direction: values.direction,
    model: values.model,
    project_id: values.project,
    user: values.user,
    target: values.target,
  },
  ...(values.draft && { policies: ['in_force', ...values.draft.map((id) => ({ policy_id: id, use: 'draft' }))] }),
  ...(values['no-judge'] && { judge: false }),
})

function report({ verdict, outcomes, evidence }: EvaluationBody): string {
  const by = verdict.policy_id === null ? '' : ` by ${verdict.policy_id}`
  const effect = verdict.enforced
    ? verdict.effective_decision
    : `${verdict.effective_decision}, because it is not enforced`
  const head = `${verdict.decision} (${verdict.reason_code})${by}; effect: ${effect}`
  const checks = table(
    ['CHECK', 'POLICY', 'NAME', 'VERSION', 'DECISION', 'ENFORCED', 'SCORE', 'THRESHOLD', 'NOT EVALUATED'],
    outcomes.map((each) => [
      each.check,
      each.policy_id ?? '-',
      each.name ?? '-',
      String(each.version ?? '-'),
      each.decision,
      each.enforced ? 'yes' : 'no',
      String(each.score_bp ?? '-'),
      String(each.threshold_bp ?? '-'),
      each.not_evaluated ?? '',
    ]),
  )
  if (evidence.length === 0) return [head, '', checks].join('\n')
  const found = table(
    ['CHECK', 'POLICY', 'KIND', 'NAME', 'MESSAGE', 'RANGE', 'TEXT'],
    evidence.map(({ check, policy_id: policyId, kind, name, where, start, end, text }) => [
      check,
      policyId ?? '-',
      kind,
      name === '' ? '-' : name,
      where?.message === undefined || where.message === null
        ? (where?.kind ?? '-')
        : `${where.message}.${where.part ?? 0}`,
      start === null ? '-' : `${start}-${end ?? start}`,
      clipped(text ?? ''),
    ]),
  )
  return [head, '', checks, '', found].join('\n')
}

const maxShown = 60
const clipped = (text: string): string => (text.length > maxShown ? `${text.slice(0, maxShown - 1)}…` : text)

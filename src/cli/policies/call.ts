import type { Connection } from '../../app/client/in-process.ts'
import type { readArguments } from '../arguments.ts'
import type { CommandContext } from '../command.ts'
import type { Result } from '../run-on-server.ts'
import { fieldOptions } from './fields.ts'

export const policyOptions = {
  ...fieldOptions,
  org: { type: 'string' },
  revision: { type: 'string' },
  version: { type: 'string' },
  reason: { type: 'string' },
  override: { type: 'string' },
  'gate-run': { type: 'string' },
  backtest: { type: 'string' },
  cancel: { type: 'boolean' },
  from: { type: 'string' },
  to: { type: 'string' },
  limit: { type: 'string' },
  sample: { type: 'string' },
  thresholds: { type: 'string' },
  project: { type: 'string' },
  user: { type: 'string' },
  key: { type: 'string' },
  text: { type: 'string' },
  digests: { type: 'string' },
  event: { type: 'string' },
  owner: { type: 'string' },
  until: { type: 'string' },
  percent: { type: 'string' },
  'no-wait': { type: 'boolean' },
  json: { type: 'boolean' },
} as const

/** One call of `gatehouse policies`, with its arguments parsed. */
export type PolicyCall = {
  /** For the organization of `--org`. */
  readonly connection: Connection
  /** The id of the policy; empty for verbs without one. */
  readonly id: string
  /** The arguments after it. */
  readonly rest: readonly string[]
  readonly values: ReturnType<typeof readArguments<typeof policyOptions>>['values']
  readonly context: CommandContext
}

export type Verb = (call: PolicyCall) => Promise<Result>

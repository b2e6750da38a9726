import Type from 'typebox'
import { toUnixSeconds } from '../../base/clock.ts'
import { checkKinds, checkStates, gateStates } from '../../domain/gate/checks.ts'
import { checkBody, type GateReport } from '../../domain/gate/outcome.ts'
import { flag, integer, text } from '../described.ts'
import { idText, orNull, unixTime } from './fields.ts'

export const gateRunExampleId = 'gate_01k9z8y7x6w5v4t3s2r1q0p9n8'

/** For a publication: the run that was passed. */
export const gateRun = Type.Optional(
  idText('The run of the publish gate that was passed. Default: the newest run.', gateRunExampleId),
)

/** For a publication past the gate. */
export const gateOverride = Type.Optional(
  Type.Object(
    {
      reason: Type.String({
        minLength: 10,
        maxLength: 500,
        pattern: '^[^\\u0000]*$', // PostgreSQL stores none
        description: 'Why the gate does not count this time. The audit log shows it.',
        examples: ['A leak is going on; legal approved it by phone'],
      }),
    },
    {
      title: 'GateOverride',
      additionalProperties: false,
      description: 'Publishes what has not passed the publish gate. Needs the permission `policies:override`.',
    },
  ),
)

const basisPoints = (description: string) => orNull(integer(description))

const Check = Type.Object(
  {
    kind: Type.Enum([...checkKinds], { description: 'What is checked.' }),
    level: Type.Enum(['warn', 'require'], { description: 'Whether a publication needs it.' }),
    state: Type.Enum([...checkStates], {
      description:
        '`insufficient`: too little was recorded to say. `not_run`: nothing was compared; the message says why.',
    }),
    found: integer('What counts against the draft. For approvals: those that it has.'),
    of: integer('Of how many. For approvals: those that it needs.'),
    limit_bp: basisPoints('The highest share that is allowed, in basis points.'),
    bound_bp: basisPoints('The exact upper bound of the share at a confidence of 95 %, in basis points.'),
    message: text('The result in words.'),
    examples: Type.Array(Type.String(), { description: 'Cases that failed, or events in the audit log.' }),
  },
  { title: 'GateCheck' },
)

/** The fields that runs on drafts and on gateway configurations have in common. */
export const gateRunFields = {
  state: Type.Enum([...gateStates], {
    description:
      'By the settings of now. `warned`: nothing required is missing. `insufficient`: a required check has too little to say.',
  }),
  checks: Type.Array(Check, { description: 'Every check that applies.' }),
  backtest_id: orNull(text('The backtest.'), 'The backtest that replays requests; null if none does.'),
  approvals: Type.Array(Type.Object({ by: text('The key or member.'), at: unixTime('When.') }), {
    description: 'Who has approved it.',
  }),
  created_by: text('Who started it.'),
  created_at: unixTime('When it was started.'),
}

export const gateRunStale = (what: string) => flag(`Whether ${what} changed since, or the run is older than a day.`)

export const gateRunFieldsOf = ({ run, state, checks }: GateReport) => ({
  state,
  checks: checks.map(checkBody),
  backtest_id: run.backtestId,
  approvals: run.approvals.map(({ by, atMs }) => ({ by, at: toUnixSeconds(atMs) })),
  created_by: run.createdBy,
  created_at: toUnixSeconds(run.createdAtMs),
})

export const gateRunExample = {
  state: 'failed',
  checks: [
    {
      kind: 'cases',
      level: 'require',
      state: 'passed',
      found: 0,
      of: 12,
      limit_bp: null,
      bound_bp: null,
      message: 'All 12 cases that must pass did.',
      examples: [],
    },
    {
      kind: 'newly_blocked',
      level: 'require',
      state: 'failed',
      found: 20,
      of: 1000,
      limit_bp: 50,
      bound_bp: 290,
      message: '20 of 1000 recorded requests would newly be denied: at most 2.9 %, where 0.5 % is allowed.',
      examples: ['evt_01k9z8y7x6w5v4t3s2r1q0p9n2'],
    },
  ],
  backtest_id: 'bt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  approvals: [],
  created_by: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
  created_at: 1_767_225_600,
}

import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../base/clock.ts'
import { appealStates, type Appeal } from '../../domain/appeals/appeal.ts'
import { appealProblem, type DecidedRequest } from '../../domain/appeals/decided-request.ts'
import { stateAt } from '../../domain/appeals/open-appeal.ts'
import { checks, decisions } from '../../domain/audit/event/verdict.ts'
import { flag, text } from '../described.ts'
import { EvidenceObject, evidenceExample } from '../resources/explanation.ts'
import { idText, orNull, unixTime } from '../resources/fields.ts'

/** How much a caller learns. */
export const callerLevels = ['code', 'policy', 'evidence'] as const
export type CallerLevel = (typeof callerLevels)[number]

export const DecisionParams = Type.Object({
  event_id: idText('The `event_id` of the `policy` object in a response.', 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8'),
})

const appealFields = {
  allowed: flag('Whether the decision can be appealed: it is not older than 30 days, and nobody has appealed it.'),
  state: orNull(Type.Enum([...appealStates]), 'The state of the appeal; null if there is none.'),
  opened_at: orNull(Type.Integer(), 'When it was opened.'),
  closed_at: orNull(Type.Integer(), 'When it was closed.'),
  reason: orNull(Type.String(), 'The answer of the reviewer.'),
}

const DecisionAppeal = Type.Object(appealFields, { title: 'DecisionAppeal', description: 'The appeal against it.' })

const openExample = {
  allowed: false,
  state: 'open',
  opened_at: 1_767_225_600,
  closed_at: null,
  reason: null,
} as const

/** The answer to an appeal. */
export const OpenedAppeal = Type.Object(
  {
    id: text('The id of the appeal.'),
    object: Type.Literal('decision.appeal'),
    event_id: text('The decision.'),
    ...appealFields,
  },
  {
    title: 'OpenedAppeal',
    examples: [
      {
        id: 'apl_01k9z8y7x6w5v4t3s2r1q0p9n8',
        object: 'decision.appeal',
        event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
        ...openExample,
      },
    ],
  },
)

export const OpenAppealBody = Type.Object(
  {
    note: text('Why the decision is wrong, in one sentence.', {
      minLength: 1,
      maxLength: 1_000,
      pattern: '\\S',
      examples: ['A falcon is a bird.'],
    }),
  },
  { additionalProperties: false, title: 'DecisionAppealCreate', examples: [{ note: 'A falcon is a bird.' }] },
)

const DecidingRule = Type.Object(
  {
    check: Type.Enum([...checks], { description: 'The check that decided.' }),
    policy_id: orNull(Type.String(), 'The policy, or the `policy_id` of the gateway configuration.'),
    name: orNull(Type.String(), 'Its name at that time.'),
    version: orNull(Type.Integer(), 'Its version.'),
  },
  { title: 'DecidingRule' },
)

const DecisionException = Type.Object(
  {
    exception_id: text('The exception.'),
    policy_id: orNull(Type.String(), 'The policy that it is of.'),
  },
  { title: 'DecisionException' },
)

export const DecisionObject = Type.Object(
  {
    object: Type.Literal('decision'),
    event_id: text('The event of the request in the audit log.'),
    request_id: orNull(Type.String(), 'The request.'),
    created_at: unixTime('When the request was received.'),
    decision: Type.Enum([...decisions], { description: 'The decision of the checks.' }),
    effective_decision: Type.Enum([...decisions], { description: 'What happened to the request or response.' }),
    enforced: flag('False: the decision was recorded and not applied.'),
    direction: orNull(
      Type.Enum(['request', 'response']),
      'What the decision is about; null if the request was rejected before the checks.',
    ),
    reason_code: orNull(Type.String(), 'The reason code of the decision.'),
    level: Type.Enum([...callerLevels], {
      description:
        'How much is told: `explanations.to_callers` of the configuration, and `code` for categories that are always blocked.',
    }),
    deciding: orNull(DecidingRule, 'The rule, from the level `policy`; null if every check allowed it.'),
    exceptions: Type.Array(DecisionException, {
      description:
        'The exceptions that let it through, from the level `policy`: what their policies decided is recorded and not applied.',
    }),
    evidence: Type.Array(EvidenceObject, {
      description: 'What the checks acted on, at the level `evidence`. It has no words of the text.',
    }),
    appeal: DecisionAppeal,
  },
  {
    title: 'Decision',
    examples: [
      {
        object: 'decision',
        event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
        request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
        created_at: 1_767_225_600,
        decision: 'refuse',
        effective_decision: 'refuse',
        enforced: true,
        direction: 'request',
        reason_code: 'REFUSE',
        level: 'evidence',
        deciding: {
          check: 'policy',
          policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8',
          name: 'No code names',
          version: 3,
        },
        exceptions: [],
        evidence: [evidenceExample],
        appeal: openExample,
      },
    ],
  },
)

export type DecisionBody = Static<typeof DecisionObject>

/** The appeal that somebody has opened, as the caller sees it. One of an administrator is none of its business. */
export function presentOpenedAppeal(appeal: Appeal, nowMs: number): Static<typeof DecisionAppeal> {
  if (appeal.origin === 'administrator') return { ...noAppeal, allowed: false }
  const { openedAtMs, closedAtMs, expiresAtMs, reason } = appeal
  const state = stateAt(appeal, nowMs)
  return {
    allowed: false,
    state,
    opened_at: toUnixSeconds(openedAtMs),
    closed_at: state === 'open' ? null : toUnixSeconds(closedAtMs ?? expiresAtMs),
    reason,
  }
}

/** Whether a decision that nobody has appealed can be appealed. */
export const presentNoAppeal = (request: DecidedRequest, nowMs: number): Static<typeof DecisionAppeal> => ({
  ...noAppeal,
  allowed: appealProblem(request, nowMs) === undefined,
})

const noAppeal = { state: null, opened_at: null, closed_at: null, reason: null }

import Type, { type Static, type TProperties } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { GateReport } from '../../../domain/gate/outcome.ts'
import { defaultGate, gateLevels, type GateSettings } from '../../../domain/gate/settings.ts'
import type { GateOf } from '../../../domain/gate/stored-settings.ts'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { integer, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { gateRunExample, gateRunExampleId, gateRunFields, gateRunFieldsOf, gateRunStale } from '../../resources/gate.ts'
import { listOf, pageExample } from '../../resources/list.ts'
import { policyExampleId, PolicyParams, revision } from './schema.ts'

const strict = { additionalProperties: false }

const level = Type.Enum([...gateLevels], {
  description:
    '`off`: not checked. `warn`: reported. `require`: a draft that does not meet it cannot be published without an override.',
})
const share = (description: string) => Type.Integer({ minimum: 0, maximum: 10_000, description })
const limit = (what: string) =>
  orNull(
    share(`The highest share of replayed requests that ${what}, in basis points.`),
    `The highest share of replayed requests that ${what}, in basis points. The upper bound of the share is compared, at a confidence of 95 %. Null: no limit.`,
  )

const sections = {
  cases: { level },
  replay: {
    level,
    newly_blocked_bp: limit('the draft denies and nothing denied then'),
    newly_allowed_bp: limit('this policy denied and the draft does not'),
    not_evaluated_bp: limit('the draft could not be evaluated on'),
    days: integer('Requests of the last days are replayed.', { minimum: 1, maximum: 90 }),
    min_events: integer('With fewer replayed requests the check is `insufficient`.', { minimum: 1, maximum: 100_000 }),
    max_events: integer('Most requests, the newest first. A judge is asked about each of them.', {
      minimum: 1,
      maximum: 100_000,
    }),
  },
  shadow: {
    level,
    hours: integer('How long the same rule must have run in monitoring.', { minimum: 1, maximum: 720 }),
    min_requests: integer('And on how many requests.', { minimum: 1, maximum: 10_000_000 }),
    max_match_bp: share('The highest share of these requests that it matches, in basis points, by its upper bound.'),
  },
  approvals: { level, count: integer('How many other people must approve.', { minimum: 1, maximum: 10 }) },
  judge: { level, days: integer('How old the calibration may be, in days.', { minimum: 1, maximum: 365 }) },
} as const satisfies {
  readonly [Section in keyof GateSettings]: { readonly [Field in keyof GateSettings[Section]]: object }
}

const descriptions = {
  cases: 'Every case of weight `must` passes on the draft.',
  replay: 'What the draft changes for recorded requests. Needs their texts (`audit.content` or `audit.replay_sample`).',
  shadow: 'The same rule has run in monitoring. Needs no texts.',
  approvals: 'Others than the last author of the draft approve it.',
  judge: 'The judge of a rule in plain language was calibrated lately, and did not contradict itself.',
} as const

const section = <Fields extends TProperties>(fields: Fields, name: keyof typeof descriptions) =>
  Type.Object(fields, { ...strict, description: descriptions[name] })
const given = <Fields extends TProperties>(fields: Fields, name: keyof typeof descriptions) =>
  Type.Optional(Type.Partial(Type.Object(fields), { ...strict, description: descriptions[name] }))

const GivenSettings = {
  cases: given(sections.cases, 'cases'),
  replay: given(sections.replay, 'replay'),
  shadow: given(sections.shadow, 'shadow'),
  approvals: given(sections.approvals, 'approvals'),
  judge: given(sections.judge, 'judge'),
}

/** The settings without a revision, as files write them. */
export const GateSettingsBody = Type.Object(GivenSettings, {
  ...strict,
  description:
    'What stands between a draft and its publication. Fields that are left out have their defaults; a policy only tightens the settings of the organization.',
})

export const SaveGate = Type.Object(
  {
    revision: integer('The revision that the caller has read; 0 before the first change.', {
      minimum: 0,
      maximum: maxRevision,
      examples: [0],
    }),
    ...GivenSettings,
  },
  {
    ...strict,
    title: 'PublishGateUpdate',
    examples: [{ revision: 0, replay: { level: 'require', newly_blocked_bp: 50 }, approvals: { level: 'require' } }],
  },
)

const gateExample = {
  object: 'organization.publish_gate' as const,
  policy_id: null,
  revision: 1,
  settings: { replay: { level: 'require' as const } },
  effective: { ...defaultGate, replay: { ...defaultGate.replay, level: 'require' as const } },
  updated_at: 1_767_225_600,
}

export const GateObject = Type.Object(
  {
    object: Type.Literal('organization.publish_gate'),
    policy_id: orNull(text('The policy.'), 'The policy whose gate it is; null for that of the organization.'),
    revision: integer('The number of changes.'),
    settings: Type.Object(GivenSettings, {
      description: 'What was set. Fields that are left out have their defaults.',
    }),
    effective: Type.Object(
      {
        cases: section(sections.cases, 'cases'),
        replay: section(sections.replay, 'replay'),
        shadow: section(sections.shadow, 'shadow'),
        approvals: section(sections.approvals, 'approvals'),
        judge: section(sections.judge, 'judge'),
      },
      {
        description:
          'What counts: the settings with their defaults. For a policy, the stricter of its own and those of the organization in every field.',
      },
    ),
    updated_at: orNull(unixTime('Time of the last change.'), 'Time of the last change; null if there was none.'),
  },
  { title: 'PublishGate', examples: [gateExample] },
)

export const presentGate = ({ owner, stored, effective }: GateOf) => ({
  object: 'organization.publish_gate' as const,
  policy_id: owner.policyId,
  revision: stored.revision,
  settings: stored.settings,
  effective,
  updated_at: stored.revision === 0 ? null : toUnixSeconds(stored.updatedAtMs),
})

export const StartRun = Type.Object({ revision }, { ...strict, title: 'GateRunCreate', examples: [{ revision: 3 }] })

export const RunParams = Type.Object({ ...PolicyParams.properties, gate_run_id: idText('The run.', gateRunExampleId) })

const runExample = {
  id: gateRunExampleId,
  object: 'organization.policy.gate_run',
  policy_id: policyExampleId,
  revision: 3,
  draft_digest: '3d0f5c2b5f0f4f3c9a0b7f6e1d2c3b4a5968778695a4b3c2d1e0f00112233445',
  stale: false,
  author: 'adk_01k9z8y7x6w5v4t3s2r1q0p9n8',
  ...gateRunExample,
}

export const RunObject = Type.Object(
  {
    id: text('The id of the run.'),
    object: Type.Literal('organization.policy.gate_run'),
    policy_id: text('The policy whose draft it is of.'),
    revision: integer('The revision of the policy when it was started.'),
    draft_digest: text('SHA-256 of the draft and its cases. A publication of any other content is not covered.'),
    stale: gateRunStale('the draft or its cases have'),
    author: orNull(text('Who last changed the draft.'), 'Who last changed the draft; null if it is not known.'),
    ...gateRunFields,
  },
  { title: 'GateRun', examples: [runExample] },
)

export const RunList = listOf('GateRunList', RunObject, pageExample(runExample))

export type GateRunBody = Static<typeof RunObject>
export type GateBody = Static<typeof GateObject>

export const presentRun = (report: GateReport): GateRunBody => ({
  id: report.run.id,
  object: 'organization.policy.gate_run',
  policy_id: report.run.policyId ?? '',
  revision: report.run.revision,
  draft_digest: report.run.digest,
  stale: report.isStale,
  author: report.run.author,
  ...gateRunFieldsOf(report),
})

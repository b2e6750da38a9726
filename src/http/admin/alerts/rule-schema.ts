import Type, { type Static } from 'typebox'
import { maxForMinutes, maxRuleChannels, ruleKinds, ruleWindows, thresholdUnits } from '../../../domain/alerts/rule.ts'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { flag, text, texts } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { channelExampleId } from './channel-schema.ts'

export const ruleExampleId = 'rule_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const RuleParams = Type.Object({ rule_id: idText('The alert rule.', ruleExampleId) })
export const RuleQuery = listQuery({})

const kind = Type.Enum([...ruleKinds], {
  description:
    '`spend`, `denials`, `errors`, `key_near_limit` and `budget_near_limit` compare a figure with the threshold. `credit_low` and `key_expiring` count days. The others are items of the attention list.',
})
const name = text('The name of the rule.', { minLength: 1, maxLength: maxNameLength, examples: ['Many denials'] })
const threshold = orNull(
  Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000 }),
  'The rule applies above it; `key_near_limit`, `budget_near_limit` and `dead_letters` from it on, `credit_low` and `key_expiring` below it. Required for `spend`. Null for kinds without one.',
)
const unit = orNull(
  Type.Enum([...thresholdUnits]),
  'Of `spend`: `usd` (the default) or `credits`. Of `denials` and `errors`: `percent` (the default) or `count`.',
)
const window = orNull(
  Type.Enum([...ruleWindows]),
  'Of `spend`: `day` (the default) or `month`, UTC. Of `denials` and `errors`: `5m`, `15m` (the default), `1h`, `6h` or `24h`. Of `key_near_limit`: its `day` (the default) or `minute` limit.',
)
const minRequests = orNull(
  Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  'With `percent`: with fewer requests the rule does not apply. Default: 20.',
)
const forMinutes = Type.Integer({
  minimum: 1,
  maximum: maxForMinutes,
  description: 'For how long the rule must apply before the alert is sent. Rules are evaluated once a minute.',
})
const filterId = (description: string) => Type.Optional(idText(description, ''))
const filter = orNull(
  Type.Object(
    {
      project_id: filterId('Only this project: `spend`, `denials`, `errors`, `key_near_limit`.'),
      api_key_id: filterId('Only this key: `spend`, `denials`, `errors`, `key_near_limit`.'),
      policy_id: filterId('Only this policy: `denials`, `policy_spike`, `policy_paused`, `rule_not_judged`.'),
      budget_id: filterId('Only this budget: `budget_near_limit`.'),
      export_id: filterId('Only this export sink: `sink_failing`, `dead_letters`.'),
      upstream: filterId('Only the upstream of this name: `upstream_failing`.'),
    },
    { title: 'AlertRuleFilter', additionalProperties: false, maxProperties: 1 },
  ),
  'The only object that the rule looks at; null for all.',
)
const channelIds = Type.Array(idText('An alert channel.', channelExampleId), {
  maxItems: maxRuleChannels,
  description: 'The channels that alerts are sent by. Without one, alerts are only listed.',
})
const paused = flag('A paused rule is not evaluated.')

const settings = {
  threshold: Type.Optional(threshold),
  unit: Type.Optional(unit),
  window: Type.Optional(window),
  min_requests: Type.Optional(minRequests),
  for_minutes: Type.Optional(forMinutes),
  filter: Type.Optional(filter),
  channel_ids: Type.Optional(channelIds),
  paused: Type.Optional(paused),
}

export const NewRuleBody = Type.Object(
  { kind, name, ...settings },
  {
    title: 'AlertRuleCreate',
    additionalProperties: false,
    examples: [
      { kind: 'denials', name: 'Many denials', threshold: 20, unit: 'percent', window: '15m', channel_ids: [] },
    ],
  },
)

export const ChangedRuleBody = Type.Object(
  { name: Type.Optional(name), ...settings },
  { title: 'AlertRuleUpdate', additionalProperties: false, examples: [{ threshold: 30 }] },
)

const example = {
  id: ruleExampleId,
  object: 'organization.alert_rule',
  kind: 'denials',
  name: 'Many denials',
  threshold: 20,
  unit: 'percent',
  window: '15m',
  min_requests: 20,
  for_minutes: 1,
  filter: null,
  channel_ids: [channelExampleId],
  paused: false,
  state: 'firing',
  firing: [
    {
      alert_id: 'alert_01k9z8y7x6w5v4t3s2r1q0p9n8',
      subject: null,
      title: 'Denials are over 20 %',
      since: 1_767_225_600,
    },
  ],
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

export const RuleObject = Type.Object(
  {
    id: text('The id of the rule.'),
    object: Type.Literal('organization.alert_rule'),
    kind,
    name,
    threshold,
    unit,
    window,
    min_requests: minRequests,
    for_minutes: forMinutes,
    filter,
    channel_ids: texts('The channels that alerts are sent by.'),
    paused,
    state: Type.Enum(['ok', 'firing', 'paused'], { description: 'Whether an alert of the rule lasts.' }),
    firing: Type.Array(
      Type.Object({
        alert_id: text('The id of the alert.'),
        subject: orNull(Type.String(), 'The id or name of what it is about; null for the organization.'),
        title: text('What the alert says.'),
        since: unixTime('When it began.'),
      }),
      { description: 'Alerts of the rule that are not over.' },
    ),
    created_at: unixTime('When it was created.'),
    updated_at: unixTime('When it was changed.'),
    managed_by: managedBy,
  },
  { title: 'AlertRule', examples: [example] },
)

export const RuleList = listOf('AlertRuleList', RuleObject, pageExample(example))

export const DeletedRule = Type.Object(
  {
    id: text('The id of the deleted rule.'),
    object: Type.Literal('organization.alert_rule.deleted'),
    deleted: Type.Literal(true),
  },
  {
    title: 'DeletedAlertRule',
    examples: [{ id: ruleExampleId, object: 'organization.alert_rule.deleted', deleted: true }],
  },
)

export type AlertRuleBody = Static<typeof RuleObject>
export type RuleBodySettings = Static<typeof ChangedRuleBody>

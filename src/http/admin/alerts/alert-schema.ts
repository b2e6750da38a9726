import Type, { type Static } from 'typebox'
import { alertEvents, deliveryStates } from '../../../domain/alerts/alert.ts'
import { thresholdUnits } from '../../../domain/alerts/rule.ts'
import { integer, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { channelExampleId } from './channel-schema.ts'
import { ruleExampleId } from './rule-schema.ts'

const example = {
  id: 'alert_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'organization.alert',
  kind: 'denials',
  rule_id: ruleExampleId,
  rule_name: 'Many denials',
  subject: null,
  title: 'Denials are over 20 %',
  text: 'The organization Example Inc.: 60 of 200 requests in the last 15 minutes were denied (30 %). The threshold is 20 %.',
  figure: 30,
  threshold: 20,
  unit: 'percent',
  started_at: 1_767_225_600,
  ended_at: null,
  deliveries: [
    {
      id: 'msg_01k9z8y7x6w5v4t3s2r1q0p9n8',
      channel_id: channelExampleId,
      event: 'fired',
      state: 'sent',
      attempts: 1,
      next_attempt_at: null,
      last_error: null,
      ended_at: 1_767_225_601,
    },
  ],
}

export const AlertQuery = listQuery({
  state: Type.Optional(Type.Enum(['firing', 'resolved'], { description: 'Only alerts that last, or that are over.' })),
  rule_id: Type.Optional(idText('Only alerts of this rule.', ruleExampleId)),
})

export const AlertObject = Type.Object(
  {
    id: text('The id of the alert.'),
    object: Type.Literal('organization.alert'),
    kind: text('The kind of its rule.'),
    rule_id: orNull(Type.String(), 'The rule; null if it was deleted, or if no rule sent the alert.'),
    rule_name: text('The name of the rule when the alert began.'),
    subject: orNull(Type.String(), 'The id or name of what it is about; null for the organization.'),
    title: text('What happened, in one sentence.'),
    text: text('The same with the figures.'),
    figure: orNull(Type.Number(), 'The figure when the alert began.'),
    threshold: orNull(Type.Number(), 'The threshold when the alert began.'),
    unit: orNull(Type.Enum([...thresholdUnits]), 'Of both.'),
    started_at: unixTime('When it began.'),
    ended_at: orNull(unixTime('When it was over.'), 'When it was over; null while it lasts.'),
    deliveries: Type.Array(
      Type.Object({
        id: text('The id of the message, which the receiver gets as well.'),
        channel_id: text('The channel.'),
        event: Type.Enum([...alertEvents], { description: 'Whether it is about the begin or the end.' }),
        state: Type.Enum([...deliveryStates], { description: 'A message is given up after a day of attempts.' }),
        attempts: integer('Attempts so far.'),
        next_attempt_at: orNull(unixTime('When the next attempt is made.')),
        last_error: orNull(Type.String(), 'Why the last attempt failed.'),
        ended_at: orNull(unixTime('When it was sent or given up.')),
      }),
      { description: 'The messages about it.' },
    ),
  },
  { title: 'Alert', examples: [example] },
)

export const AlertList = listOf('AlertList', AlertObject, pageExample(example))

export type AlertBody = Static<typeof AlertObject>

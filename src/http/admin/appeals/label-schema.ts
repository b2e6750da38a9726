import Type, { type Static } from 'typebox'
import { labelAnswers } from '../../../domain/appeals/label.ts'
import { text } from '../../described.ts'
import { idText, orNull } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { appealExampleId, eventExampleId, labelExample, labelFields, policyExampleId } from './schema.ts'

export const LabelQuery = listQuery({
  policy_id: Type.Optional(idText('Only labels about this policy.', policyExampleId)),
  event_id: Type.Optional(idText('Only labels of this decision.', eventExampleId)),
  should: Type.Optional(Type.Enum([...labelAnswers], { description: 'Only labels with this answer.' })),
  by: Type.Optional(idText('Only labels by this administrator key or member.', labelExample.labelled_by)),
})

const example = {
  ...labelExample,
  object: 'organization.label',
  appeal_id: appealExampleId,
  event_id: eventExampleId,
  request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
  policy_id: policyExampleId,
  case_id: null,
}

const LabelObject = Type.Object(
  {
    ...labelFields,
    object: Type.Literal('organization.label'),
    appeal_id: text('The appeal.'),
    event_id: text('The decision, in the audit log.'),
    request_id: orNull(Type.String(), 'Its request.'),
    policy_id: orNull(Type.String(), 'The policy; null if the decision is not about a policy.'),
    case_id: orNull(Type.String(), 'The case that the text became.'),
  },
  { title: 'Label', examples: [example] },
)

export const LabelList = listOf('LabelList', LabelObject, pageExample(example))
export type LabelBody = Static<typeof LabelObject>

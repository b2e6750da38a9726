import Type from 'typebox'
import { decisions } from '../../domain/audit/event/verdict.ts'
import { flag, text, texts } from '../described.ts'

/** The `policy` object of answers and errors, which leads from them to the rule and to the audit event. */
export const policyDecision = (description: string) =>
  Type.Object(
    {
      decision: Type.Enum([...decisions], { description: 'The strongest decision of all checks.' }),
      effective_decision: Type.Enum([...decisions], { description: 'The decision after the rollout is applied.' }),
      enforced: flag('False if the decision was only recorded.'),
      rollout_mode: text('How the rule that decided applies, such as `enforced` or `shadow`.'),
      reason_code: text('Why, as a code.', { examples: ['REFUSE'] }),
      policy_id: Type.Union([Type.String(), Type.Null()], {
        description: 'The policy that decided, or the `policy_id` of the gateway configuration.',
      }),
      version: Type.Union([Type.Integer(), Type.Null()], { description: 'Its version.' }),
      triggered_categories: texts('The moderation categories that matched.'),
      event_id: Type.Optional(text('The event in the audit log.', { examples: ['evt_01k9z8y7x6w5v4t3s2r1q0p9n8'] })),
      explain_url: Type.Optional(
        text('Of a denial, if `explanations.appeals` is on: where a key of the project learns why.', {
          examples: ['https://gateway.example/v1/decisions/evt_01k9z8y7x6w5v4t3s2r1q0p9n8'],
        }),
      ),
      appeal_url: Type.Optional(
        text(
          'Of a denial, if `explanations.appeals` is on: a page for a person, without a key. It says what was denied and takes an appeal. Anybody with the address can read and appeal this decision.',
        ),
      ),
    },
    { title: 'PolicyDecision', description },
  )

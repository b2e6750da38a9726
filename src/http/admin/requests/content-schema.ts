import Type from 'typebox'
import { checks } from '../../../domain/audit/event/verdict.ts'
import { restoreLosses } from '../../../domain/audit/event/restorable.ts'
import { evidenceKinds } from '../../../domain/evaluation/evidence.ts'
import { integer, text } from '../../described.ts'
import { orNull } from '../../resources/fields.ts'

const TextEvidence = Type.Object(
  {
    check: Type.Enum([...checks], { description: 'The check that acted on it.' }),
    policy_id: orNull(Type.String(), 'The policy, for the check `policy`.'),
    kind: Type.Enum([...evidenceKinds], { description: 'What it is, as in `POST /v1/organization/evaluate`.' }),
    name: text('The term, category, kind of personal data, phrase or pattern.'),
    start: integer('Start in the text, in UTF-16 code units from 0.'),
    end: integer('End, exclusive.'),
  },
  { title: 'TextEvidence', description: 'A part of the text that a check acted on.' },
)

const MarkedText = Type.Object(
  {
    text: text('The text. A text of more than 256,000 bytes is truncated and ends in an ellipsis.'),
    evidence: Type.Array(TextEvidence, {
      description:
        'What the checks acted on, found in the kept text by the versions that decided. A rule that a judge model evaluated has no evidence.',
    }),
  },
  { title: 'MarkedText' },
)

const PromptMessage = Type.Object(
  {
    role: Type.Enum(['system', 'user', 'assistant'], { description: 'Who wrote it.' }),
    text: text('Its texts, one after the other.'),
  },
  { title: 'PromptMessage' },
)

export const RequestContent = Type.Object(
  {
    level: Type.Enum(['redacted', 'full'], { description: 'Whether personal data in the texts was replaced.' }),
    prompt: Type.Object(MarkedText.properties, { description: 'All messages, each after the name of its role.' }),
    messages: Type.Array(PromptMessage, { description: 'The messages of the prompt, to send them again.' }),
    parameters: orNull(
      Type.Record(Type.String(), Type.Unknown()),
      'The other fields of the body in the format of `dialect`, such as `tools` and `temperature`, without those that name a user. Null if they are not kept.',
    ),
    not_restored: Type.Array(Type.Enum([...restoreLosses]), {
      description:
        'What `messages` and `parameters` lack. `personal_data`: it was replaced. `end_of_prompt`: the prompt was truncated. `roles`: they were read from the text, where a line of a message may look like another message. `parameters`: they are not kept. `tool-call`, `tool-result`: they are plain text. The others: parts of messages that are not kept.',
    }),
    response: Type.Object(
      {
        ...MarkedText.properties,
        withheld_from: orNull(
          Type.Integer(),
          'Where the part of the text begins that was not sent, because a check denied it; null if all of it was sent.',
        ),
      },
      { description: 'The response of the model; empty if there was none.' },
    ),
  },
  { title: 'RequestContent' },
)

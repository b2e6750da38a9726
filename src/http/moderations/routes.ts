import type { Static } from 'typebox'
import type { Ids } from '../../base/ids.ts'
import { isCategory } from '../../domain/scan/classify/categories.ts'
import type { Classification } from '../../domain/scan/classify/classifier.ts'
import type { Admission } from '../../pipeline/billing/admission.ts'
import type { ModeratedMessages, Moderate } from '../../pipeline/operations/moderate.ts'
import type { RunCounted } from '../../pipeline/run-counted.ts'
import type { CallerOf } from '../caller.ts'
import { createRejectedBodyCounter } from '../inference/count-rejected-body.ts'
import type { InFlight } from '../inference/in-flight.ts'
import { encodeOpenaiFault, OpenaiErrorBody } from '../inference/openai-errors.ts'
import type { EndpointFamily } from '../route.ts'
import { createValidator, invalidField } from '../validate.ts'
import { moderationCategories, type ModerationCategory } from '../../wire/openai-moderations.ts'
import { ModerationAnswer, ModerationBody } from './schema.ts'

export type ModerationParts = {
  readonly callerOf: CallerOf
  readonly admission: Pick<Admission, 'count'>
  readonly ids: Ids
  readonly inFlight: InFlight
  readonly runCounted: RunCounted
  readonly moderate: Moderate
  /** The name of the classifier in responses. */
  readonly moderationModel: string
}

const maxBodyBytes = 1024 * 1024

/** `/v1/moderations`: the result of the classifier in the format of OpenAI's moderation endpoint. */
export function moderationsFamily(parts: ModerationParts): EndpointFamily {
  const { callerOf, inFlight, ids, runCounted, moderate, moderationModel } = parts
  const validate = createValidator(ModerationBody)

  return {
    name: 'Moderations',
    description: 'Classification in the format of OpenAI’s moderation endpoint.',
    prefixes: ['/v1/moderations'],
    encodeError: encodeOpenaiFault,
    errorSchema: OpenaiErrorBody,
    routes: [
      {
        name: 'createModeration',
        method: 'POST',
        path: '/v1/moderations',
        summary: 'Classify texts',
        description: 'Counts as a request and costs no credits. Nothing is stored, and policies do not apply.',
        credential: 'api_key',
        sdk: { vendor: 'openai', method: 'moderations.create' },
        bodyLimitBytes: maxBodyBytes,
        body: ModerationBody,
        answers: { 200: { description: 'One result for each text, in their order.', schema: ModerationAnswer } },
        errorStatuses: [400, 401, 403, 408, 413, 429, 500, 503],
        onRejectedBody: createRejectedBodyCounter(parts),
        async handle(request, reply) {
          using inFlightRequest = inFlight.begin(reply)
          const principal = await callerOf.principal(request)
          const decode = () => messagesIn(validate(request.body))
          const { result } = await runCounted(moderate, { principal, signal: inFlightRequest.signal, decode })
          return { id: ids('modr').replace('_', '-'), model: moderationModel, results: result.map(presentResult) }
        },
      },
    ],
  }
}

/** The texts of each message: each string is a message of its own, all parts are one message. */
function messagesIn({ input }: Static<typeof ModerationBody>): ModeratedMessages {
  if (typeof input === 'string') return [[input]]
  const parts: string[] = []
  const texts: string[] = []
  for (const [at, item] of input.entries()) {
    if (typeof item === 'string') texts.push(item)
    else if (item.type === 'text') parts.push(item.text)
    else throw invalidField(['input', at], 'is an image, which this classifier cannot read; send its text alone')
  }
  return parts.length > 0 ? [parts] : texts.map((text) => [text])
}

/** A classification in OpenAI's format. Categories that the classifier does not know are not flagged and have no input types. */
const presentResult = ({ flagged, scores }: Classification) => ({
  flagged: flagged.length > 0,
  categories: each((name) => flagged.some((category) => category === name)),
  category_scores: each((name) => (isCategory(name) ? scores[name] : 0)),
  category_applied_input_types: each((name) => (isCategory(name) ? ['text'] : [])),
})

const each = <Value>(make: (name: ModerationCategory) => Value): Record<string, Value> =>
  Object.fromEntries(moderationCategories.map((name) => [name, make(name)]))

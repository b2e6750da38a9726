import { hostileBodies } from '../../support/hostile-bodies.ts'
import {
  contextTooLong,
  crisisMessage,
  deniedTerm,
  flaggedCategory,
  freeTierNotTrue,
  longPolicyHeader,
  modelOfWrongType,
  otherContentType,
  rawBody,
  repeatedHeader,
  requestWith,
  selfHarm,
  unknownCategory,
  unknownPolicy,
  upstreamStatus,
} from '../../support/inference-errors.ts'
import { denied, describeStatus, responsesError, type StatusCase } from '../../support/inference-status.ts'

describeStatus('responses', 400, [
  ...Object.entries(hostileBodies).map(([name, [body, message]]): StatusCase => [
    name,
    rawBody(body),
    responsesError('invalid_json', message),
  ]),
  [
    'a body of another content type',
    otherContentType,
    responsesError('invalid_content_type', 'Send the body with content-type: application/json.'),
    { 'x-should-retry': 'false' },
  ],
  [
    'a header that was sent twice',
    repeatedHeader,
    responsesError('invalid_header', 'The header authorization was sent twice.'),
  ],
  [
    'X-Free-Tier with another value than true',
    freeTierNotTrue,
    responsesError('invalid_header', 'X-Free-Tier: the only allowed value is true.'),
  ],
  [
    'a policy header that is too long',
    longPolicyHeader,
    responsesError('invalid_header', 'X-Policy-User: must be one value of at most 256 characters.'),
  ],
  [
    'X-Policy-Id with an unknown policy',
    unknownPolicy,
    responsesError('invalid_header', 'X-Policy-Id: The request names a policy that does not exist: pol_none.'),
  ],
  ['a field of the wrong type', modelOfWrongType, responsesError('invalid_parameter', 'model: must be a string')],
  [
    'a value outside of an enumeration',
    unknownCategory,
    responsesError(
      'invalid_parameter',
      'flagged_categories[0]: must be one of "harassment", "hate", "illicit" or "sexual"',
    ),
  ],
  [
    'a background response',
    requestWith({ background: true }),
    responsesError('unsupported_parameter', 'background: is not supported; the response is always sent at once'),
  ],
  [
    'a conversation',
    requestWith({ conversation: 'conv_1' }),
    responsesError('unsupported_parameter', 'conversation: is not supported; send the items in input'),
  ],
  [
    'a stored prompt',
    requestWith({ prompt: { id: 'pmpt_1' } }),
    responsesError('unsupported_parameter', 'prompt: is not supported; send its text in instructions or input'),
  ],
  [
    'a previous response that is not stored',
    requestWith({ previous_response_id: 'resp_none' }),
    responsesError('invalid_parameter', "Previous response with id 'resp_none' not found."),
  ],
  [
    'a reference to an item that is not stored',
    requestWith({ input: [{ type: 'item_reference', id: 'msg_none' }] }),
    responsesError('invalid_parameter', "Item with id 'msg_none' not found."),
  ],
  [
    'a text of an always blocked category',
    selfHarm,
    { ...responsesError('moderation_blocked', crisisMessage), ...denied(0, ['self-harm']) },
    { 'x-should-retry': 'false' },
  ],
  [
    'a text of a category that the request flags',
    flaggedCategory,
    { ...responsesError('moderation_blocked', 'Blocked by moderation: harassment.'), ...denied(0, ['harassment']) },
    { 'x-should-retry': 'false' },
  ],
  [
    'a text with a term of the denylist',
    deniedTerm,
    { ...responsesError('policy_blocked', 'Denied by the policy default (REFUSE).'), ...denied(1, []) },
    { 'x-should-retry': 'false' },
  ],
  ['a request that the upstream rejects', upstreamStatus(400), responsesError('upstream_rejected', 'Because.')],
  [
    'a prompt that is longer than the model’s context',
    contextTooLong,
    responsesError(
      'context_length_exceeded',
      'prompt is too long: This model’s maximum context length is 8192 tokens.',
    ),
  ],
])

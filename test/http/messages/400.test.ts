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
  selfHarm,
  unknownCategory,
  unknownPolicy,
  upstreamCase,
  upstreamStatus,
} from '../../support/inference-errors.ts'
import { denied, describeStatus, messagesError, type StatusCase } from '../../support/inference-status.ts'
import { silence } from '../../support/upstream.ts'

/** The Anthropic SDKs look for this `error_code`, and then continue without a thread. */
const threadError = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'thread: message threads are not supported. Send the whole conversation in `messages`, without `thread`.',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  },
}

describeStatus('messages', 400, [
  ...Object.entries(hostileBodies).map(([name, [body, message]]): StatusCase => [
    name,
    rawBody(body),
    messagesError('invalid_request_error', message),
  ]),
  [
    'a body of another content type',
    otherContentType,
    messagesError('invalid_request_error', 'Send the body with content-type: application/json.'),
    { 'x-should-retry': 'false' },
  ],
  [
    'a header that was sent twice',
    repeatedHeader,
    messagesError('invalid_request_error', 'The header authorization was sent twice.'),
  ],
  [
    'X-Free-Tier with another value than true',
    freeTierNotTrue,
    messagesError('invalid_request_error', 'X-Free-Tier: the only allowed value is true.'),
  ],
  [
    'a policy header that is too long',
    longPolicyHeader,
    messagesError('invalid_request_error', 'X-Policy-User: must be one value of at most 256 characters.'),
  ],
  [
    'X-Policy-Id with an unknown policy',
    unknownPolicy,
    messagesError('invalid_request_error', 'X-Policy-Id: The request names a policy that does not exist: pol_none.'),
  ],
  ['a field of the wrong type', modelOfWrongType, messagesError('invalid_request_error', 'model: must be a string')],
  [
    'a value outside of an enumeration',
    unknownCategory,
    messagesError(
      'invalid_request_error',
      'flagged_categories[0]: must be one of "harassment", "hate", "illicit" or "sexual"',
    ),
  ],
  [
    'a field that the upstream does not support',
    upstreamCase(silence, {}, { mcp_servers: [{}] }),
    messagesError('invalid_request_error', 'This model’s upstream does not support `mcp_servers`.'),
  ],
  ...[{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }].map((thread): StatusCase => [
    `a message thread: ${thread.type}`,
    upstreamCase(silence, { kind: 'anthropic' }, { thread }),
    threadError,
    { 'x-should-retry': 'false' },
  ]),
  [
    'a message thread that is resumed without a new message',
    rawBody('{"model":"m","max_tokens":9,"messages":[],"thread":{"type":"continue","previous_message_id":"msg_1"}}'),
    threadError,
  ],
  [
    'a text of an always blocked category',
    selfHarm,
    { ...messagesError('invalid_request_error', crisisMessage), ...denied(0, ['self-harm']) },
    { 'x-should-retry': 'false' },
  ],
  [
    'a text of a category that the request flags',
    flaggedCategory,
    { ...messagesError('invalid_request_error', 'Blocked by moderation: harassment.'), ...denied(0, ['harassment']) },
    { 'x-should-retry': 'false' },
  ],
  [
    'a text with a term of the denylist',
    deniedTerm,
    { ...messagesError('invalid_request_error', 'Denied by the policy default (REFUSE).'), ...denied(1, []) },
    { 'x-should-retry': 'false' },
  ],
  ['a request that the upstream rejects', upstreamStatus(400), messagesError('invalid_request_error', 'Because.')],
  [
    'a prompt that is longer than the model’s context',
    contextTooLong,
    messagesError('invalid_request_error', 'prompt is too long: This model’s maximum context length is 8192 tokens.'),
  ],
])

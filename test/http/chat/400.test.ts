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
import { chatError, denied, describeStatus, type StatusCase } from '../../support/inference-status.ts'

describeStatus('chat', 400, [
  ...Object.entries(hostileBodies).map(([name, [body, message]]): StatusCase => [
    name,
    rawBody(body),
    chatError(message, { type: 'invalid_request_error', code: 'invalid_json' }),
  ]),
  [
    'a body of another content type',
    otherContentType,
    chatError('Send the body with content-type: application/json.', {
      type: 'invalid_request_error',
      code: 'invalid_content_type',
    }),
    { 'x-should-retry': 'false' },
  ],
  [
    'a header that was sent twice',
    repeatedHeader,
    chatError('The header authorization was sent twice.', { type: 'invalid_request_error', code: 'invalid_header' }),
  ],
  [
    'X-Free-Tier with another value than true',
    freeTierNotTrue,
    chatError('X-Free-Tier: the only allowed value is true.', {
      type: 'invalid_request_error',
      code: 'invalid_header',
      param: 'X-Free-Tier',
    }),
  ],
  [
    'a policy header that is too long',
    longPolicyHeader,
    chatError('X-Policy-User: must be one value of at most 256 characters.', {
      type: 'invalid_request_error',
      code: 'invalid_header',
      param: 'X-Policy-User',
    }),
  ],
  [
    'X-Policy-Id with an unknown policy',
    unknownPolicy,
    chatError('The request names a policy that does not exist: pol_none.', {
      type: 'invalid_request_error',
      code: 'invalid_header',
      param: 'X-Policy-Id',
    }),
  ],
  [
    'a field of the wrong type',
    modelOfWrongType,
    chatError('model: must be a string', { type: 'invalid_request_error', code: 'invalid_parameter', param: 'model' }),
  ],
  [
    'a value outside of an enumeration',
    unknownCategory,
    chatError('flagged_categories[0]: must be one of "harassment", "hate", "illicit" or "sexual"', {
      type: 'invalid_request_error',
      code: 'invalid_parameter',
      param: 'flagged_categories[0]',
    }),
  ],
  [
    'more than one choice',
    requestWith({ n: 2 }),
    chatError('n: must be 1; only one choice is supported', {
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: 'n',
    }),
  ],
  [
    'audio output',
    requestWith({ modalities: ['audio'] }),
    chatError('modalities: only "text" is supported', {
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: 'modalities',
    }),
  ],
  [
    'a text of an always blocked category',
    selfHarm,
    {
      ...chatError(crisisMessage, { type: 'invalid_request_error', code: 'moderation_blocked' }),
      ...denied(0, ['self-harm']),
    },
    { 'x-should-retry': 'false' },
  ],
  [
    'a text of a category that the request flags',
    flaggedCategory,
    {
      ...chatError('Blocked by moderation: harassment.', { type: 'invalid_request_error', code: 'moderation_blocked' }),
      ...denied(0, ['harassment']),
    },
    { 'x-should-retry': 'false' },
  ],
  [
    'a text with a term of the denylist',
    deniedTerm,
    {
      ...chatError('Denied by the policy default (REFUSE).', { type: 'policy_error', code: 'policy_blocked' }),
      ...denied(1, []),
    },
    { 'x-should-retry': 'false' },
  ],
  [
    'a request that the upstream rejects',
    upstreamStatus(400),
    chatError('Because.', { type: 'invalid_request_error', code: 'upstream_rejected' }),
  ],
  [
    'a prompt that is longer than the model’s context',
    contextTooLong,
    chatError('prompt is too long: This model’s maximum context length is 8192 tokens.', {
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    }),
  ],
])

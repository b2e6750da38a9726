import { Fault, faultCodes } from '../../src/base/fault.ts'
import { createDefaultErrors } from '../../src/http/default-errors.ts'
import { encodeOpenaiFault } from '../../src/http/inference/openai-errors.ts'
import { encodeDetailFault, encodeMessagesFault } from '../../src/http/messages/errors.ts'
import { encodeResponsesFault } from '../../src/http/responses/errors.ts'
import type { ErrorResponse } from '../../src/http/route.ts'

const requestId = 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'
const encodeDefault = createDefaultErrors(() => 'http://127.0.0.1:8080')

const missing = new Fault('validation', 'invalid_parameter', 'model: is required', {
  param: 'model',
  problems: [{ path: ['model'], type: 'missing', message: 'is required' }],
})
const conflict = new Fault('conflict', 'revision_conflict', 'The policy is at revision 4; the request names 3.', {
  param: 'revision',
})
const overLimit = new Fault('rate_limit', 'rate_limit_exceeded', 'This key may make 60 requests per minute.')

/** Each format with an error as the code sends it. */
const formats: readonly (readonly [title: string, sentence: string, fault: Fault, encode: Encode])[] = [
  [
    'Administration, policy gateway, models and credits',
    '`code` is stable and for programs, `message` is for people. `param` names the field at fault, or is null. `doc_url` leads to the code on this page.',
    conflict,
    encodeDefault,
  ],
  [
    'Messages',
    'The format of the Anthropic API. It has no code: `type` decides which class the SDK throws. A denial by a policy also has `policy`.',
    missing,
    encodeMessagesFault,
  ],
  [
    'Responses',
    'A flat body with the message in `error`. A 429 has the format of chat completions instead. A denial also has `policy`.',
    missing,
    encodeResponsesFault,
  ],
  [
    'Chat completions, embeddings and moderations',
    'The format of the OpenAI API. A denial by a policy also has `policy`.',
    overLimit,
    encodeOpenaiFault,
  ],
  [
    'Counting the tokens of a message',
    'An invalid body of `POST /v1/messages/count_tokens` is 422 and lists every problem. Other errors of the endpoint have the format of messages.',
    missing,
    encodeDetailFault,
  ],
]

type Encode = (fault: Fault, requestId: string) => ErrorResponse

export function errorsPage(): string {
  const rows = Object.entries(faultCodes).map(([code, sentence]) => `| \`${code}\` | ${sentence} |`)
  return `# Error codes

Every error response has one of these codes, in the format of its endpoint family. The same list is served at \`/docs/errors\`,
which \`doc_url\` links to. This page is generated from the code with \`npm run generate\`.

| Code | Meaning |
|---|---|
${rows.join('\n')}

## Formats

Every body has the request id, which is also in \`x-request-id\`. Errors that were sent as an event of a stream have the same body.

${formats.map(section).join('\n')}`
}

function section([title, sentence, fault, encode]: (typeof formats)[number]): string {
  const { status, body } = encode(fault, requestId)
  return `### ${title}

${sentence} This one has the status ${status}:

\`\`\`json
${JSON.stringify(body, null, 2)}
\`\`\`
`
}

/** Bodies that are not a JSON object or try to break a parser, each with the message that rejects it. */
export const hostileBodies: Readonly<Record<string, readonly [body: string | Uint8Array, message: string]>> = {
  'an empty body': ['', 'The body is not valid JSON.'],
  'broken JSON': ['{"model":', 'The body is not valid JSON.'],
  'data after the JSON': ['{} {}', 'The body is not valid JSON.'],
  'a byte order mark': ['\ufeff{}', 'The body is not valid JSON.'],
  'an array': ['[]', 'The body must be a JSON object.'],
  'invalid UTF-8': [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'The body is not valid UTF-8.'],
  'half a surrogate pair': [
    '{"model":"\\ud800","messages":[],"input":""}',
    'The body contains half of a surrogate pair, which is not a character.',
  ],
  'a NUL character': ['{"model":"a\\u0000","messages":[],"input":""}', 'The body contains a NUL character.'],
  'nesting a hundred thousand levels deep': [`{"model":${'['.repeat(100_000)}`, 'The body is not valid JSON.'],
  'a __proto__ key': ['{"__proto__":{"isAdmin":true},"model":"gatehouse-echo"}', 'The key __proto__ is not allowed.'],
  'a constructor.prototype key': [
    '{"constructor":{"prototype":{"isAdmin":true}}}',
    'The key constructor.prototype is not allowed.',
  ],
  'a million keys': [`{${'"k":0,'.repeat(1_000_000)}"z":0}`, 'The body has more than 200000 keys.'],
}

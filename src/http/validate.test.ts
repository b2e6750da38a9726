import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type from 'typebox'
import { Fault } from '../base/fault.ts'
import { createQueryValidator, createValidator, fieldName } from './validate.ts'

const Text = Type.Object({ type: Type.Literal('text'), text: Type.String() })
const Image = Type.Object({
  type: Type.Literal('image'),
  source: Type.Union([
    Type.Object({ type: Type.Literal('base64'), data: Type.String() }),
    Type.Object({ type: Type.Literal('url'), url: Type.String() }),
  ]),
})
const Body = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 5 }),
  messages: Type.Array(
    Type.Object({
      role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
      content: Type.Union([Type.String(), Type.Array(Type.Union([Text, Image]))]),
    }),
    { minItems: 1 },
  ),
  temperature: Type.Optional(Type.Union([Type.Number({ minimum: 0, maximum: 2 }), Type.Null()])),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
})
const Strict = Type.Object(
  {
    revision: Type.Integer({ minimum: 1 }),
    project_ids: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 2 })),
    labels: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 3 }))),
    mode: Type.Optional(Type.Enum(['monitoring', 'enforcing'])),
  },
  { additionalProperties: false },
)

const faultOf = (act: () => unknown): Fault => {
  try {
    act()
  } catch (error) {
    assert.ok(error instanceof Fault)
    assert.equal(error.kind, 'validation')
    assert.equal(error.code, 'invalid_parameter')
    return error
  }
  return assert.fail('nothing was rejected')
}

const message = (content: unknown, role: unknown = 'user') => ({ model: 'm', messages: [{ role, content }] })
const validate = createValidator(Body)
const validateStrict = createValidator(Strict)

describe('a validator', () => {
  it('returns a valid value unchanged, including unknown fields', () => {
    const body = { ...message('hi'), something_new: 1 }
    assert.equal(validate(body), body)
  })

  const cases: readonly [name: string, check: (value: unknown) => unknown, value: unknown, message: string][] = [
    ['a missing field', validate, { messages: [] }, 'model: is required; messages: must have at least 1 item'],
    ['an empty list', validate, { model: 'm', messages: [] }, 'messages: must have at least 1 item'],
    ['an empty text', validate, { ...message('hi'), model: '' }, 'model: must not be empty'],
    [
      'a text that is too long',
      validate,
      { ...message('hi'), model: 'abcdef' },
      'model: must have at most 5 characters',
    ],
    ['a body that is a list', validate, [], 'body: must be an object'],
    ['a number that is too large', validate, { ...message('hi'), temperature: 3 }, 'temperature: must be at most 2'],
    [
      'a wrong type in a union with null',
      validate,
      { ...message('hi'), temperature: 'hot' },
      'temperature: must be a number or null',
    ],
    ['a fraction', validate, { ...message('hi'), max_tokens: 1.5 }, 'max_tokens: must be an integer'],
    [
      'a value outside a union of literals',
      validate,
      message('hi', 'usr'),
      'messages[0].role: must be one of "user" or "assistant"',
    ],
    ['a type that no branch has', validate, message(7), 'messages[0].content: must be a string or an array'],
    [
      'a mistake inside the intended branch',
      validate,
      message([{ type: 'text', text: 4 }]),
      'messages[0].content[0].text: must be a string',
    ],
    [
      'a missing field of the intended branch',
      validate,
      message([{ type: 'text' }]),
      'messages[0].content[0].text: is required',
    ],
    [
      'an unknown tag',
      validate,
      message([{ type: 'txt' }]),
      'messages[0].content[0].type: must be one of "text" or "image"',
    ],
    ['a missing tag', validate, message([{ text: 'hi' }]), 'messages[0].content[0].type: is required'],
    [
      'a mistake two unions deep',
      validate,
      message([{ type: 'image', source: { type: 'url', url: 4 } }]),
      'messages[0].content[0].source.url: must be a string',
    ],
    ['an unknown field', validateStrict, { revision: 1, revison: 2 }, 'revison: is not a known field'],
    ['an item of a list', validateStrict, { revision: 1, project_ids: ['a', ''] }, 'project_ids[1]: must not be empty'],
    [
      'a list that is too long',
      validateStrict,
      { revision: 1, project_ids: ['a', 'b', 'c'] },
      'project_ids: must have at most 2 items',
    ],
    [
      'a value of a map',
      validateStrict,
      { revision: 1, labels: { 'a b': 'long' } },
      'labels["a b"]: must have at most 3 characters',
    ],
    [
      'a value outside an enum',
      validateStrict,
      { revision: 1, mode: 'on' },
      'mode: must be one of "monitoring" or "enforcing"',
    ],
  ]
  for (const [name, check, value, expected] of cases) {
    it(`names ${name}`, () => assert.equal(faultOf(() => check(value)).message, expected))
  }

  it('gives the field as param, and all problems with their paths', () => {
    const { details } = faultOf(() => validateStrict({ project_ids: [1] }))
    assert.equal(details.param, 'revision')
    assert.deepEqual(details.problems, [
      { path: ['revision'], type: 'missing', message: 'is required', input: { project_ids: [1] } },
      { path: ['project_ids', 0], type: 'type', message: 'must be a string', input: 1 },
    ])
  })

  it('counts an emoji as one character, as the check does', () => {
    assert.ok(validate({ ...message('hi'), model: '😀😀😀' }))
  })

  it('limits the length of its messages', () => {
    const body = {
      revision: 1,
      ...Object.fromEntries(Array.from({ length: 500 }, (_, at) => ['k'.repeat(900) + at, 1])),
    }
    const { message: text, details } = faultOf(() => validateStrict(body))
    assert.ok(text.length < 320)
    assert.equal(details.problems?.length, 20)
  })

  it('uses the validator’s message if it has none of its own', () => {
    const unique = createValidator(Type.Object({ ids: Type.Array(Type.String(), { uniqueItems: true }) }))
    assert.match(faultOf(() => unique({ ids: ['a', 'a'] })).message, /^body: must not have duplicate items/)
  })
})

describe('a query validator', () => {
  const query = createQueryValidator(
    Type.Object(
      {
        limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
        after: Type.Optional(Type.String({ minLength: 1 })),
        all: Type.Optional(Type.Boolean()),
        model: Type.Optional(Type.Array(Type.String())),
      },
      { additionalProperties: false },
    ),
  )

  it('reads numbers, booleans and lists from text and fills in defaults', () => {
    assert.deepEqual(query({}), { limit: 20 })
    assert.deepEqual(query({ limit: '5', all: 'true', model: 'a', after: '7' }), {
      limit: 5,
      all: true,
      model: ['a'],
      after: '7',
    })
  })

  it('names the invalid parameter', () => {
    assert.equal(faultOf(() => query({ limit: '0' })).message, 'limit: must be at least 1')
    assert.equal(faultOf(() => query({ limit: 'ten' })).message, 'limit: must be an integer')
    assert.equal(faultOf(() => query({ limit: ['1', '2'] })).message, 'limit: must be given only once')
    assert.equal(faultOf(() => query({ lmit: '1' })).message, 'lmit: is not a known field')
  })
})

it('writes a path as a caller would', () => {
  assert.equal(fieldName(['messages', 0, 'content']), 'messages[0].content')
  assert.equal(fieldName(['metadata', 'a"b']), 'metadata["a\\"b"]')
})

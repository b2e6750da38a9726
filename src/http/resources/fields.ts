import Type, { type TSchema } from 'typebox'
import { lastSecond } from '../../base/clock.ts'
import { maxAllowedIps } from '../../domain/identity/allowed-ips.ts'
import { maxNameLength } from '../../domain/identity/bounds.ts'
import { maxGraceSeconds } from '../../domain/identity/key-changes.ts'

/** The schema of absent parameters, query or body. */
export const none = Type.Object({}, { additionalProperties: false })

/** An id in a request. NUL is excluded because PostgreSQL cannot store it. */
export const idText = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$', description, examples: [example] })

/** The description is that of the schema unless another is given. */
export const orNull = <S extends TSchema>(schema: S, description = descriptionOf(schema)) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

const descriptionOf = (schema: { readonly description?: unknown }): string | undefined =>
  typeof schema.description === 'string' ? schema.description : undefined

export const isoTime = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-01T00:00:00.000Z'] })

export const unixTime = (description: string) => Type.Integer({ description, examples: [1_767_225_600] })

/** A bound of a filter by time. */
export const timeFilter = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: lastSecond, description, examples: [1_767_225_600] }))

/** The bounds in milliseconds. */
export const periodOf = ({ from, to }: { readonly from?: number | undefined; readonly to?: number | undefined }) => ({
  ...(from !== undefined && { fromMs: from * 1000 }),
  ...(to !== undefined && { toMs: to * 1000 }),
})

export const expiresAt = Type.Optional(
  orNull(
    Type.Integer({ minimum: 1, maximum: lastSecond }),
    'When the key expires, in Unix seconds. It must not be later than the expiry of the key that creates it. Default: the expiry of that key. Null: never.',
  ),
)

/** The expiry in milliseconds; null for never, undefined if the request has none. */
export const expiryMs = (expiresAtSeconds: number | null | undefined): number | null | undefined =>
  typeof expiresAtSeconds === 'number' ? expiresAtSeconds * 1000 : expiresAtSeconds

const networkList = Type.Array(Type.String({ minLength: 1, maxLength: 64, examples: ['203.0.113.0/24'] }), {
  minItems: 1,
  maxItems: maxAllowedIps,
})

export const allowedIps = Type.Optional(
  orNull(
    networkList,
    'The addresses and networks that the key may be used from. Requests from other addresses get 403 `ip_not_allowed`. Default: the list of the key that creates it. Null: every address.',
  ),
)

export const shownIps = orNull(
  Type.Array(Type.String()),
  'The networks that the key may be used from; null allows every address.',
)

/** For the update of a key. */
export const newExpiresAt = Type.Optional(
  orNull(
    Type.Integer({ minimum: 1, maximum: lastSecond }),
    'When the key expires, in Unix seconds. Null: never. It can be later than before only up to the expiry of the key that changes it.',
  ),
)

/** For the update of a key. */
export const newAllowedIps = Type.Optional(
  orNull(
    networkList,
    'The addresses and networks that the key may be used from. Null: every address. More than before only within the list of the key that changes it.',
  ),
)

export const previousExpiresAt = Type.Optional(
  unixTime('When the secret before the last rotation stops or stopped working; absent before the first rotation.'),
)

export const RotateKey = Type.Object(
  {
    grace_seconds: Type.Integer({
      minimum: 0,
      maximum: maxGraceSeconds,
      description:
        'How long the replaced secret keeps working beside the new one. 0 ends it at once, on other nodes within a second.',
    }),
  },
  { title: 'KeyRotation', additionalProperties: false, examples: [{ grace_seconds: 86_400 }] },
)

export const keyName = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'The purpose of the key.',
  examples: ['CI'],
})

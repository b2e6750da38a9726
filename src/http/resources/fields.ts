import Type, { type TSchema } from 'typebox'
import { lastSecond } from '../../base/clock.ts'
import { maxAllowedIps } from '../../domain/identity/allowed-ips.ts'
import { maxNameLength } from '../../domain/identity/bounds.ts'

/** The schema of absent parameters, query or body. */
export const none = Type.Object({}, { additionalProperties: false })

/** An id in a request. NUL is excluded because PostgreSQL cannot store it. */
export const idText = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000]*$', description, examples: [example] })

export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

export const isoTime = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-01T00:00:00.000Z'] })

export const unixTime = (description: string) => Type.Integer({ description, examples: [1_767_225_600] })

export const expiresAt = Type.Optional(
  orNull(
    Type.Integer({ minimum: 1, maximum: lastSecond }),
    'When the key expires, in Unix seconds. It must not be later than the expiry of the key that creates it. Default: the expiry of that key. Null: never.',
  ),
)

/** The expiry in milliseconds; null for never, undefined if the request has none. */
export const expiryMs = (expiresAtSeconds: number | null | undefined): number | null | undefined =>
  typeof expiresAtSeconds === 'number' ? expiresAtSeconds * 1000 : expiresAtSeconds

export const allowedIps = Type.Optional(
  orNull(
    Type.Array(Type.String({ minLength: 1, maxLength: 64, examples: ['203.0.113.0/24'] }), {
      minItems: 1,
      maxItems: maxAllowedIps,
    }),
    'The addresses and networks that the key may be used from. Requests from other addresses get 403 `ip_not_allowed`. Default: the list of the key that creates it. Null: every address.',
  ),
)

export const shownIps = orNull(
  Type.Array(Type.String()),
  'The networks that the key may be used from; null allows every address.',
)

export const keyName = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'The purpose of the key.',
  examples: ['CI'],
})

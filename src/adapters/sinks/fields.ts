import { X509Certificate } from 'node:crypto'
import Type from 'typebox'
import { contentLevels } from '../../domain/audit/event/content.ts'
import { eventFamilies } from '../../domain/audit/event/kinds.ts'
import type { ConfigProblem } from '../../domain/audit/export/sink.ts'
import { decisions } from '../../domain/audit/event/verdict.ts'

/** Rejects unknown fields, such as one with a typo. */
export const strict = { additionalProperties: false } as const

/** Fields that every sink has. The sender applies them, not the sinks. */
export const commonFields = {
  content: Type.Optional(
    Type.Enum([...contentLevels], {
      default: 'none',
      description:
        'Which texts of prompts and answers are exported, of those that the gateway stores (`audit.content`).',
    }),
  ),
  filter: Type.Optional(
    Type.Object(
      {
        event_types: Type.Optional(
          Type.Array(Type.Enum([...eventFamilies]), {
            maxItems: 10,
            description: 'Events of these families are exported. Default: all.',
            examples: [['gateway', 'policy']],
          }),
        ),
        decisions: Type.Optional(
          Type.Array(Type.Enum([...decisions]), {
            maxItems: 10,
            description: 'Of events with a decision, those with one of these are exported. Default: all.',
            examples: [['refuse', 'escalate']],
          }),
        ),
      },
      {
        ...strict,
        description: 'Which events are exported. Default: all. Checkpoints are always exported.',
      },
    ),
  ),
}

export const CommonConfig = Type.Object({
  ...commonFields,
  tls_ca_pem: Type.Optional(Type.String()),
})

/** The last sentence in the description of every secret field. */
export const masked = 'Masked in answers.'

export const urlField = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 500, description, examples: [example] })

export const caField = Type.String({
  minLength: 1,
  maxLength: 65_536,
  description: 'Certificate authority of the destination, in PEM, if it is not a public one.',
  examples: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n'],
})

export const compressionField = Type.Enum(['gzip', 'none'], {
  default: 'gzip',
  description: 'Compression of the requests to the destination.',
})

type UrlRules = { readonly path: string; readonly allowPath?: boolean }

/** Problems of an address in a tenant's configuration. The address guard checks where it leads. */
export function urlProblems(text: string | undefined, { path, allowPath = false }: UrlRules): ConfigProblem[] {
  if (text === undefined) return []
  const url = URL.parse(text)
  const problem = (message: string): ConfigProblem[] => [{ path, message }]
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return problem('must be an https:// address')
  if (url.username !== '' || url.password !== '') return problem('must not contain a user name or password')
  if (url.search !== '' || url.hash !== '') return problem('must not contain a query or fragment')
  if (!allowPath && url.pathname !== '/') return problem('must not contain a path')
  return []
}

export const caProblems = (pem: string | undefined): ConfigProblem[] =>
  pem === undefined || isCertificate(pem) ? [] : [{ path: 'tls_ca_pem', message: 'is not a certificate in PEM' }]

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

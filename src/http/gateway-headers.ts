type GatewayHeader = {
  readonly description: string
  readonly example: string
  /** The name in earlier releases. Until the next release the header is sent under both names. */
  readonly alias?: string
}

/** The response headers that Gatehouse itself defines. Handlers, OpenAPI and tests take the names from this table. */
export const gatewayHeaders = {
  'x-gatehouse-error-code': {
    description:
      'The code of an error, the same in every endpoint family. It is also in the body, except in that of `count_tokens`.',
    example: 'invalid_parameter',
  },
  'x-gatehouse-warning': {
    description:
      'The request succeeded, but with a caveat: `rule_not_evaluable` for a rule that no check can evaluate, `rewrite_without_judge` for a configuration that rewrites texts although no judge model is configured.',
    example: 'rule_not_evaluable',
  },
  'x-gatehouse-token-source': {
    description: 'How the tokens were counted: `upstream`, `tokenizer`, `sample` or `length`.',
    example: 'tokenizer',
    alias: 'x-gateway-token-source',
  },
  'x-gatehouse-dropped': {
    description: 'Request fields that the upstream does not support and that were left out, separated by commas.',
    example: 'tools.web_search',
    alias: 'x-gateway-dropped',
  },
  'x-gatehouse-hold-back': {
    description:
      '`whole` if each block of a streamed response is held back until it is complete, because a rule needs all of its text. `paragraph` if a judge evaluates one paragraph after the other, and each is sent once it is evaluated. Otherwise the header is missing, and text is sent as soon as it is evaluated.',
    example: 'whole',
  },
  'x-gatehouse-switched-model': {
    description:
      'The model that answered in place of the requested one, because a budget with the action `use_model` does not cover that, and the id of the budget.',
    example: 'gpt-5-mini; budget=bud_01k9z8y7x6w5v4t3s2r1q0p9n8',
  },
} as const satisfies Readonly<Record<string, GatewayHeader>>

export type GatewayHeaderName = keyof typeof gatewayHeaders

/** The header with this value, also under its alias. */
export function gatewayHeader(name: GatewayHeaderName, value: string): Record<string, string> {
  const header: GatewayHeader = gatewayHeaders[name]
  return header.alias === undefined ? { [name]: value } : { [name]: value, [header.alias]: value }
}

/** Missing if text is sent as soon as it is evaluated. */
export const holdBackHeader = (coverage: 'held_back' | 'paragraph' | 'whole'): Record<string, string> =>
  coverage === 'held_back' ? {} : gatewayHeader('x-gatehouse-hold-back', coverage)

/** Names the request fields that were left out. They may contain any text of the caller. */
export const droppedHeader = (fields: readonly string[]): Record<string, string> =>
  fields.length === 0 ? {} : gatewayHeader('x-gatehouse-dropped', printable(fields.join(', ')))

export const switchedModelHeader = (
  switched: { readonly model: string; readonly budgetId: string } | undefined,
): Record<string, string> =>
  switched === undefined
    ? {}
    : gatewayHeader('x-gatehouse-switched-model', `${printable(switched.model)}; budget=${switched.budgetId}`)

/** Names the settings of a configuration that have no effect. */
export const warningHeader = (warnings: readonly { readonly code: string }[]): Record<string, string> =>
  warnings.length === 0 ? {} : gatewayHeader('x-gatehouse-warning', warnings.map(({ code }) => code).join(', '))

const maxHeaderLength = 1000

const printable = (text: string): string => text.slice(0, maxHeaderLength).replace(/[^ -~]/g, '?')

/** The header and its alias in the form of OpenAPI's `components.headers`. */
export function describeGatewayHeaders(): Record<string, object> {
  const described = Object.entries<GatewayHeader>(gatewayHeaders).flatMap(([name, { description, example, alias }]) => {
    const schema = { type: 'string', examples: [example] }
    const old = { description: `Deprecated name of \`${name}\`.`, deprecated: true, schema }
    return [[name, { description, schema }] as const, ...(alias === undefined ? [] : [[alias, old] as const])]
  })
  return Object.fromEntries(described)
}

/** All names under which the header is sent. */
export function namesOf(name: GatewayHeaderName): readonly string[] {
  const header: GatewayHeader = gatewayHeaders[name]
  return header.alias === undefined ? [name] : [name, header.alias]
}

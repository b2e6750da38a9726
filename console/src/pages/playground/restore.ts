import type { components } from '../../api/schema.d.ts'
import type { Texts, Turn } from './draft.ts'

type Content = components['schemas']['RequestContent']

/** What the request that is sent again lacks: in the log, or because the form cannot hold it. */
export type Loss = Content['not_restored'][number] | 'later_system' | 'no_limit'

export type Restored = {
  readonly texts: Texts
  readonly maxTokens: number | undefined
  readonly losses: readonly Loss[]
}

/** The names of one parameter in the dialects, which the form has a field for. */
const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const

/** The fields of the form for a request of the log. */
export function restore({ messages, parameters, not_restored: lost }: Content): Restored {
  const { tools, ...others } = parameters ?? {}
  const maxTokens = limits.map((name) => others[name]).find((value) => typeof value === 'number')
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !limits.some((limit) => limit === name)))
  const system = messages.filter(({ role }) => role === 'system')
  const turns = messages.flatMap(({ role, text }): readonly Turn[] =>
    role === 'system' || text === '' ? [] : [{ role, text }],
  )
  const firstTurn = messages.findIndex(({ role }) => role !== 'system')
  const hasLaterSystem = firstTurn >= 0 && messages.slice(firstTurn).some(({ role }) => role === 'system')
  return {
    texts: {
      system: system.map(({ text }) => text).join('\n\n'),
      turns: turns.length === 0 ? [{ role: 'user', text: '' }] : turns,
      tools: Array.isArray(tools) && tools.length > 0 ? JSON.stringify(tools, null, 2) : '',
      parameters: Object.keys(rest).length === 0 ? '' : JSON.stringify(rest, null, 2),
    },
    maxTokens,
    losses: [
      ...lost,
      ...(hasLaterSystem ? (['later_system'] as const) : []),
      ...(parameters !== null && maxTokens === undefined ? (['no_limit'] as const) : []),
    ],
  }
}

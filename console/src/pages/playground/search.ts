import type { components } from '../../api/schema.d.ts'

export type Dialect = components['schemas']['PlaygroundRequest']['dialect']

/** Every dialect of the API, in the order of the form. The compiler reports one that is missing. */
const inOrder: Readonly<Record<Dialect, true>> = { messages: true, responses: true, chat: true }
export const dialects = Object.keys(inOrder) as readonly Dialect[]
export const tabs = ['answer', 'verdict', 'events', 'code'] as const

/** What the address of the page holds: everything but the texts. */
export type PlaygroundSearch = {
  readonly dialect?: Dialect | undefined
  readonly model?: string | undefined
  readonly project?: string | undefined
  /** `false` for an answer in one piece. */
  readonly stream?: boolean | undefined
  readonly max_tokens?: number | undefined
  readonly user?: string | undefined
  readonly target?: string | undefined
  /** What the second side differs by: another model, or other rules. */
  readonly compare?: string | undefined
  /** The rules of the first side, if they are not those in force. */
  readonly against?: string | undefined
  readonly tab?: (typeof tabs)[number] | undefined
  /** The request that was sent last. */
  readonly request?: string | undefined
  /** The request that was sent last to the second model. */
  readonly request_b?: string | undefined
  /** The request whose text can be loaded. */
  readonly copy?: string | undefined
}

const texts = ['model', 'project', 'user', 'target', 'compare', 'against', 'request', 'request_b', 'copy'] as const

export function readPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const { max_tokens: maxTokens } = search
  const named = texts.flatMap((name) => {
    const value = search[name]
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : []
  })
  return {
    ...Object.fromEntries(named),
    dialect: dialects.find((dialect) => dialect === search['dialect']),
    tab: tabs.find((tab) => tab === search['tab']),
    stream: search['stream'] === false ? false : undefined,
    max_tokens: Number.isInteger(maxTokens) && Number(maxTokens) > 0 ? Number(maxTokens) : undefined,
  }
}

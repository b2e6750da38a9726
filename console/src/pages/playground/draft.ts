import type { components } from '../../api/schema.d.ts'
import { words } from '../../words/en.ts'
import type { Dialect, PlaygroundSearch } from './search.ts'

export type Turn = { readonly role: 'user' | 'assistant'; readonly text: string }

/** The texts of the form, which the address does not hold. */
export type Texts = {
  readonly system: string
  readonly turns: readonly Turn[]
  readonly tools: string
  /** Further fields of the body, as a JSON object. */
  readonly parameters: string
}

export const emptyTexts: Texts = { system: '', turns: [{ role: 'user', text: '' }], tools: '', parameters: '' }

const defaultMaxTokens = 1_024

/** What the form says, with defaults for what the address leaves out. */
export type Settings = {
  readonly dialect: Dialect
  readonly model: string
  readonly project: string
  readonly stream: boolean
  readonly maxTokens: number
  readonly headers: Readonly<Record<string, string>>
}

type Defaults = { readonly model: string | undefined; readonly project: string | undefined }

export const settingsOf = (search: PlaygroundSearch, defaults: Defaults): Settings => ({
  dialect: search.dialect ?? 'messages',
  model: search.model ?? defaults.model ?? '',
  project: search.project ?? defaults.project ?? '',
  stream: search.stream !== false,
  maxTokens: search.max_tokens ?? defaultMaxTokens,
  headers: {
    ...(search.user && { 'x-policy-user': search.user }),
    ...(search.target && { 'x-policy-target': search.target }),
  },
})

/** The tools, or what is wrong with their JSON. */
export function toolsIn(json: string): { readonly tools?: readonly unknown[]; readonly problem?: string } {
  if (json.trim() === '') return {}
  try {
    const tools: unknown = JSON.parse(json)
    return Array.isArray(tools) ? { tools } : { problem: words.playground.toolsProblem }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : words.playground.toolsProblem }
  }
}

type Parameters = { readonly parameters?: Readonly<Record<string, unknown>>; readonly problem?: string }

/** The further fields of the body, or what is wrong with their JSON. */
export function parametersIn(json: string): Parameters {
  if (json.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { parameters: { ...value } } : { problem: words.playground.parametersProblem }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : words.playground.parametersProblem }
  }
}

/** The body of the request in the format of the dialect. Fields of the form win over further parameters. */
export function bodyOf(settings: Settings, texts: Texts): Record<string, unknown> {
  const { dialect, model, maxTokens, stream } = settings
  const { tools } = toolsIn(texts.tools)
  const { parameters } = parametersIn(texts.parameters)
  const common = { ...(tools && tools.length > 0 && { tools }), ...(stream && { stream }) }
  const messages = texts.turns.map(({ role, text }) => ({ role, content: text }))
  const hasSystem = texts.system.trim() !== ''
  if (dialect === 'messages')
    return {
      ...parameters,
      model,
      max_tokens: maxTokens,
      ...(hasSystem && { system: texts.system }),
      messages,
      ...common,
    }
  if (dialect === 'responses')
    return {
      ...parameters,
      model,
      ...(hasSystem && { instructions: texts.system }),
      input: messages,
      max_output_tokens: maxTokens,
      ...common,
    }
  return { ...parameters, model, messages: chatMessages(texts), max_completion_tokens: maxTokens, ...common }
}

const chatMessages = ({ system, turns }: Texts) => [
  ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
  ...turns.map(({ role, text }) => ({ role, content: text })),
]

export const hasText = ({ turns }: Texts): boolean => turns.some(({ text }) => text.trim() !== '')

/** Labels are sent as headers. */
export const isHeaderText = (label: string | undefined): boolean => /^[ -~]*$/.test(label ?? '')

/** The texts that are checked, in the order in which evidence counts them. */
export const checkedTexts = (texts: Texts): readonly string[] => chatMessages(texts).map(({ content }) => content)

type Scenario = components['schemas']['EvaluationRequest']['scenario']

/** The request for the checks alone. They do not depend on the dialect, so the plainest one is used. */
export const scenarioOf = (settings: Settings, texts: Texts, search: PlaygroundSearch): Scenario => ({
  dialect: 'chat',
  messages: chatMessages(texts),
  ...contextOf(settings, search),
})

/** The response for the checks alone. */
export const responseScenario = (text: string, settings: Settings, search: PlaygroundSearch): Scenario => ({
  text,
  direction: 'response',
  ...contextOf(settings, search),
})

const contextOf = ({ model, project }: Settings, { user, target }: PlaygroundSearch) => ({
  ...(model !== '' && { model }),
  ...(project !== '' && { project_id: project }),
  ...(user && { user }),
  ...(target && { target }),
})

/**
 * The formats that callers use: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions. Metrics, the playground, the
 * request list and the audit log name them `dialect`.
 */
export const callerFormats = ['messages', 'responses', 'chat'] as const
export type CallerFormat = (typeof callerFormats)[number]

/** One value for each format. The compiler reports a format that is missing here. */
export const byCallerFormat = <Value>(of: (format: CallerFormat) => Value): Readonly<Record<CallerFormat, Value>> => ({
  messages: of('messages'),
  responses: of('responses'),
  chat: of('chat'),
})

/** The format that an upstream uses. There are more of these than callers can use. */
export type UpstreamFormat = {
  /** Reasoning signatures contain it. A format that callers use as well has the name of the `CallerFormat`. */
  readonly name: string
  /** Set if callers use this format as well. The upstream then gets their raw body, and they get its raw response. */
  readonly passthroughFor?: CallerFormat
}

/** A caller's format that this upstream does not pass through, for requests of the gateway: they have no raw body. */
export const translatedFormat = ({ passthroughFor }: Pick<UpstreamFormat, 'passthroughFor'>): CallerFormat =>
  passthroughFor === 'messages' ? 'chat' : 'messages'

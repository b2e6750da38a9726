/** The places of a request whose texts are scanned for prompt injections: what tools gave, attached documents, and the user's own text. */
export const injectionPlaces = ['tool_results', 'documents', 'user_text'] as const
export type InjectionPlace = (typeof injectionPlaces)[number]

/** The places of each text of a request. A text that is not in the map is scanned for no prompt injection. */
export type TextPlaces = ReadonlyMap<string, readonly InjectionPlace[]>

/** The score of the strongest prompt injection in each place that has one. */
export type InjectionScores = Readonly<Partial<Record<InjectionPlace, number>>>

/** The name under which a prompt injection is listed beside the moderation categories. */
export const promptInjection = 'prompt_injection'

/** Blocked on every request, whatever a caller, a policy or an operator says. */
export const alwaysBlockedCategories = ['self-harm', 'sexual/minors'] as const

/** Blocked where a caller or a policy asks for it. */
export const optionalCategories = ['harassment', 'hate', 'illicit', 'sexual'] as const

export type AlwaysBlockedCategory = (typeof alwaysBlockedCategories)[number]
export type OptionalCategory = (typeof optionalCategories)[number]
export type Category = AlwaysBlockedCategory | OptionalCategory

export const categories: readonly Category[] = [...alwaysBlockedCategories, ...optionalCategories]

/** Something for each category; the compiler sees to it that none is forgotten. */
export type PerCategory<Value> = Readonly<Record<Category, Value>>

export const isCategory = (name: string): name is Category => categories.some((category) => category === name)

export const isOptionalCategory = (name: string): name is OptionalCategory =>
  optionalCategories.some((category) => category === name)

/** Builds a value for each category, in the order of `categories`. */
export function perCategory<Value>(make: (category: Category) => Value): PerCategory<Value> {
  return {
    'self-harm': make('self-harm'),
    'sexual/minors': make('sexual/minors'),
    harassment: make('harassment'),
    hate: make('hate'),
    illicit: make('illicit'),
    sexual: make('sexual'),
  }
}

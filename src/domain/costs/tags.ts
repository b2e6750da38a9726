/** What a request is labelled with, such as its team. Only names of the configuration, in their order. */
export type Tags = Readonly<Record<string, string>>

export const noTags: Tags = {}

/** All tags as one text, `env=prod,team=red`: the same for the same tags, and empty without any. */
export const textOfTags = (tags: Tags): string =>
  Object.keys(tags)
    .toSorted()
    .map((name) => `${name}=${escaped(tags[name] ?? '')}`)
    .join(',')

/** The tags of such a text. */
export const tagsOfText = (text: string): Tags =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=')
      return at === -1 ? [] : [[pair.slice(0, at), unescaped(pair.slice(at + 1))]]
    }),
  )

/** Names have no character that separates. */
const escaped = (value: string): string => value.replaceAll('%', '%25').replaceAll(',', '%2C')

const unescaped = (value: string): string => value.replaceAll('%2C', ',').replaceAll('%25', '%')

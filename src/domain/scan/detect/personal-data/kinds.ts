/** The kinds of personal data, each with the label of its placeholder. */
export const placeholderLabels = {
  email: 'EMAIL',
  phone: 'PHONE',
  card: 'CARD',
  iban: 'IBAN',
  national_id: 'NATIONAL_ID',
  ip_address: 'IP_ADDRESS',
  mac_address: 'MAC_ADDRESS',
  secret: 'SECRET',
  date_of_birth: 'DATE_OF_BIRTH',
  name: 'NAME',
} as const

export type PersonalDataKind = keyof typeof placeholderLabels

export const personalDataKinds = Object.keys(placeholderLabels).filter(isPersonalDataKind)

export function isPersonalDataKind(name: string): name is PersonalDataKind {
  return Object.hasOwn(placeholderLabels, name)
}

/** One match of personal data in a text; `end` is exclusive. */
export type PersonalDatum = { readonly kind: PersonalDataKind; readonly start: number; readonly end: number }

/** How many of each kind there are. */
export function countByKind(data: readonly PersonalDatum[]): Partial<Record<PersonalDataKind, number>> {
  const counts: Partial<Record<PersonalDataKind, number>> = {}
  for (const { kind } of data) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/**
 * What the fields of a vendor's request format hold. It tells the domain which strings of a raw request are texts, and which
 * of them may be changed, so that the domain knows no vendor. `src/wire/field-roles.ts` describes the formats.
 */
export type FieldRoles = {
  /** Fields of the whole request that identify whom it is for. They are neither scanned nor changed. */
  readonly identifying: ReadonlySet<string>
  /** Fields of the whole request that the audit log records apart from its parameters: model, stream and messages. */
  readonly recorded: ReadonlySet<string>
  /** Fields of the whole request that hold settings: a single word in them is one of the vendor's values, not a text. */
  readonly settings: ReadonlySet<string>
  /** Fields of the whole request that are never changed, because another value would change the meaning of the request. */
  readonly unchanged: ReadonlySet<string>
  /** Fields at any depth that structure a request. They are never changed either. */
  readonly structural: ReadonlySet<string>
  /** Fields that hold a JSON schema, in which every name and string is a text. */
  readonly schemas: ReadonlySet<string>
  /** Fields that hold the URL of a file, or the file itself as a data URL. */
  readonly addresses: ReadonlySet<string>
  /** True for an id, a type or a name: a single word in such a field is not a text. */
  isLabel(name: string, object: RawObject): boolean
  /** True for a field that holds a file in base64. */
  isFile(name: string, object: RawObject): boolean
  /** True for a field that holds JSON as a string. */
  isJson(name: string): boolean
  /** True for a field that holds the input of a tool: its own fields have arbitrary names. */
  isToolInput(name: string, object: RawObject): boolean
  /** True for a block with a signature: a changed one would be rejected by its upstream. */
  isSigned(object: RawObject): boolean
}

export type RawObject = Readonly<Record<string, unknown>>

const none: ReadonlySet<string> = new Set()

/** For requests that the gateway itself makes: they have no raw body. */
export const noFieldRoles: FieldRoles = {
  identifying: none,
  recorded: none,
  settings: none,
  unchanged: none,
  structural: none,
  schemas: none,
  addresses: none,
  isLabel: () => false,
  isFile: () => false,
  isJson: () => false,
  isToolInput: () => false,
  isSigned: () => false,
}

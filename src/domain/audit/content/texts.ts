/** The texts beside events, which may be erased: the chain holds digests of them and stays whole. */
export type AuditTexts = {
  /** Erases what is kept of a request's prompt and answer; answers how many events had texts. */
  erase(organizationId: string, requestId: string): Promise<number>
}

export const judgesPath = '/v1/organization/judges'
export const judgePath = `${judgesPath}/{judge_id}`

type Actor = { readonly organization: { readonly id: string } }

export const judgeAt = ({ organization }: Actor, { judge_id: id }: { readonly judge_id: string }) => ({
  organizationId: organization.id,
  id,
})

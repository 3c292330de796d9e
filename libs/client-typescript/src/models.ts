/** Generated from the API document by test/support/client-files.ts; do not edit. Every model of the interface under its own name. */
import type { components } from './generated.ts';

/** As the document has it. */
type Component<Name extends keyof components['schemas']> = components['schemas'][Name];

/** The program that drives the agent. */
export interface AgentHarness extends Component<'AgentHarness'> {}

/** An agent identity: defaults of the runs that name it. */
export interface AgentIdentity extends Component<'AgentIdentity'> {}

/** Makes an agent identity: defaults of the runs that name it. Unknown members are ignored. */
export interface AgentIdentityCreate extends Component<'AgentIdentityCreate'> {}

/** Agent identities. */
export interface AgentIdentityList extends Component<'AgentIdentityList'> {}

/** Changes an agent identity: what is left out or null stays; an empty text, list or object clears. */
export interface AgentIdentityUpdate extends Component<'AgentIdentityUpdate'> {}

/** Skills of the factories that the key may see. */
export interface AgentListResponse extends Component<'AgentListResponse'> {}

/** A skill that runs can be started with. */
export interface AgentSkill extends Component<'AgentSkill'> {}

/** A skill as one factory has it. */
export interface AgentSkillVariant extends Component<'AgentSkillVariant'> {}

/** Configuration of an agent. In a request: what the run itself says; a RunItem shows it resolved, run over automation over factory over server. */
export interface AmbientAgentConfig extends Component<'AmbientAgentConfig'> {}

/** An API key without its text, which nobody can see again. */
export interface ApiKey extends Component<'ApiKey'> {}

/** Makes an API key. */
export interface ApiKeyCreate extends Component<'ApiKeyCreate'> {}

/** A new API key with its text: the only answer that ever shows it. */
export type ApiKeyCreated = Component<'ApiKeyCreated'>;

/** A page of API keys, newest first. */
export interface ApiKeyList extends Component<'ApiKeyList'> {}

/** Changes the label or the end of an API key that is in use; nothing else of a key can be changed, and a member that names something else is refused. */
export interface ApiKeyPatch extends Component<'ApiKeyPatch'> {}

/** Replaces an API key by another one. */
export interface ApiKeyRotate extends Component<'ApiKeyRotate'> {}

/** An approval that is stored. It counts for exactly these deletions of this factory at this revision, or exactly this rewriting of its history. */
export interface Approval extends Component<'Approval'> {}

/** Something that a run has made and that outlives its workspace. */
export interface ArtifactItem extends Component<'ArtifactItem'> {}

/** A file of a request; the execution that takes the request finds it in the folder `attachments` of its workspace. */
export interface Attachment extends Component<'Attachment'> {}

/** One change: who made it, what, when, and from where. */
export interface AuditEntry extends Component<'AuditEntry'> {}

/** A page of the audit trail, newest first. */
export interface AuditList extends Component<'AuditList'> {}

/** What starts runs of a factory, and what these runs do. */
export interface Automation extends Component<'Automation'> {}

/** How an automation wants its agent to run, before what factory and server say. */
export interface AutomationAgent extends Component<'AutomationAgent'> {}

/** Makes an automation on a factory that is managed here, under the rules of automation files. */
export interface AutomationCreate extends Component<'AutomationCreate'> {}

/** A page of a factory’s automations by slug. */
export interface AutomationList extends Component<'AutomationList'> {}

/** Changes an automation of a factory that is managed here; members that are absent stay, the others are replaced whole. It acts on the next delivery. */
export interface AutomationPatch extends Component<'AutomationPatch'> {}

/** An automation, as other resources refer to it. */
export interface AutomationReference extends Component<'AutomationReference'> {}

/** What starts an automation. */
export interface AutomationTrigger extends Component<'AutomationTrigger'> {}

/** A trigger to be set. */
export type AutomationTriggerRequest = Component<'AutomationTriggerRequest'>;

/** One step from what is applied to what the files say. Shows names of members; a plan also shows old and new of each, secrets never. */
export interface Change extends Component<'Change'> {}

/** An environment that runs can be started in. */
export interface CloudEnvironment extends Component<'CloudEnvironment'> {}

/** What an environment file says. */
export interface CloudEnvironmentConfig extends Component<'CloudEnvironmentConfig'> {}

/** Environments of the factories that the key may see. */
export interface CloudEnvironmentList extends Component<'CloudEnvironmentList'> {}

/** One thing that can be waited for. Every status has all of them, in this order: Ready (what the files say is what serves), Reconciling (a pass is asked for or under way), Stalled (nothing goes on until somebody acts; a closed sync window opens by itself), FetchFailed (the repository or folder could not be read), SourceVerificationFailed (the tip is not signed by a key of the sync policy), DefinitionsInvalid (files have errors), PruneHeld (deletions wait for an approval), SecretsDegraded (an enabled webhook has no secret to authenticate with, or secrets cannot be looked after and the last values are kept), HistoryRewritten (the tip does not descend from the one before: applied, or waiting for an approval). */
export interface Condition extends Component<'Condition'> {}

/** What was said in a conversation, as far as the key may see its runs. */
export interface Conversation extends Component<'Conversation'> {}

/** A follow-up that was stored, and the run that has it. */
export interface ConversationFollowupResponse extends Component<'ConversationFollowupResponse'> {}

/** One message of a turn. */
export interface ConversationMessage extends Component<'ConversationMessage'> {}

/** One turn: what was asked of the agent, and what it said. */
export interface ConversationStep extends Component<'ConversationStep'> {}

/** One entry of a webhook's delivery log. */
export interface Delivery extends Component<'Delivery'> {}

/** A page of a webhook's delivery log, newest first. */
export interface DeliveryList extends Component<'DeliveryList'> {}

/** Deliveries by outcome over time. */
export interface DeliveryStatistics extends Component<'DeliveryStatistics'> {}

/** A problem in a definition file, with the place to look at. */
export interface Diagnostic extends Component<'Diagnostic'> {}

/** By which networks runs and syncs reach others, as the operator says (MILLWRIGHT_EGRESS_RANGES). */
export interface EgressRanges extends Component<'EgressRanges'> {}

/** Why a request was not served: a problem (RFC 9457). Some problems have further members that say how to go on; the operation names them. */
export interface Error extends Component<'Error'> {}

/** A key that lasts ten minutes (RFC 8693, section 2.2). */
export interface ExchangedToken extends Component<'ExchangedToken'> {}

/** An automation in an explanation: what it did and why, and whether it is still the same. */
export interface ExplainedAutomation extends Component<'ExplainedAutomation'> {}

/** A webhook in an explanation: what decided, and whether it is still the same. */
export interface ExplainedDefinition extends Component<'ExplainedDefinition'> {}

/** A delivery in an explanation. */
export interface ExplainedDelivery extends Component<'ExplainedDelivery'> {}

/** A run in an explanation: who or what started it. */
export interface ExplainedRun extends Component<'ExplainedRun'> {}

/** A trigger in an explanation, as it is written now. */
export interface ExplainedTrigger extends Component<'ExplainedTrigger'> {}

/** What decided a delivery or a run. */
export interface Explanation extends Component<'Explanation'> {}

/** A managed group of agent capacity: webhooks, automations, environments and skills under one name. */
export interface Factory extends Component<'Factory'> {}

/** What a factory's own file says of the agents of its runs; the members that published clients ask for are there in any case. */
export interface FactoryAgentDefaults extends Component<'FactoryAgentDefaults'> {}

/** Makes a factory. Unknown members are refused. */
export interface FactoryCreate extends Component<'FactoryCreate'> {}

/** Starts a run in a factory. Members that are not served are ignored, and named in the answer. */
export interface FactoryDispatchRequest extends Component<'FactoryDispatchRequest'> {}

/** A run that was dispatched to a factory; from here on it is a run like any other. */
export interface FactoryDispatchResponse extends Component<'FactoryDispatchResponse'> {}

/** Something that happened to a factory. Told once, however often a pass finds it again; never holds a secret or a payload. */
export interface FactoryEvent extends Component<'FactoryEvent'> {}

/** A page of a factory's events, newest first. The newest 1,000 are kept. */
export interface FactoryEventList extends Component<'FactoryEventList'> {}

/** A tree of definition files, to be checked without a factory. */
export interface FactoryFilesValidateRequest extends Component<'FactoryFilesValidateRequest'> {}

/** What the command line's `validate` says of the same files. */
export interface FactoryFilesValidateResult extends Component<'FactoryFilesValidateResult'> {}

/** A page of the factories that the key may see, in order of their UIDs. */
export interface FactoryList extends Component<'FactoryList'> {}

/** Changes a factory's label, its source, or both; what is absent stays. Unknown members are refused. */
export interface FactoryPatch extends Component<'FactoryPatch'> {}

/** Where a factory's definitions come from: a git repository, a directory of the server (where the operator allows it), or the dashboard, where they are managed over the API. */
export interface FactorySource extends Component<'FactorySource'> {}

/** Where a factory stands. */
export interface FactoryStatus extends Component<'FactoryStatus'> {}

/** Whose tokens are exchanged for keys that last ten minutes, and what those keys may do. */
export interface FederatedCredential extends Component<'FederatedCredential'> {}

/** Lets tokens of an issuer be exchanged for keys that last ten minutes. */
export interface FederatedCredentialCreate extends Component<'FederatedCredentialCreate'> {}

/** Federated credentials, newest first. */
export interface FederatedCredentialList extends Component<'FederatedCredentialList'> {}

/** Changes a federated credential. Its issuer stays: make another one. */
export interface FederatedCredentialPatch extends Component<'FederatedCredentialPatch'> {}

/** Asks which of the newest deliveries a trigger would have taken. */
export interface FilterReplayRequest extends Component<'FilterReplayRequest'> {}

/** What the newest accepted deliveries say of a trigger. Never shows a value of a payload. */
export interface FilterReplayResult extends Component<'FilterReplayResult'> {}

/** Asks for a filter that takes some deliveries and leaves others. */
export interface FilterSuggestRequest extends Component<'FilterSuggestRequest'> {}

/** A filter made of deliveries. It holds values of their payloads, as a filter does. */
export interface FilterSuggestion extends Component<'FilterSuggestion'> {}

/** Asks whether a payload would satisfy a payload filter. Exactly one of entry_id and payload is given. */
export interface FilterTestRequest extends Component<'FilterTestRequest'> {}

/** Whether the automation would start, and which of the two checks decided. Never shows a value of the payload. */
export interface FilterTestResult extends Component<'FilterTestResult'> {}

/** A file of a follow-up: sent along (file_name, mime_type and data), or a file that a run has made, by its ID (attachment_id). */
export interface FollowupAttachment extends Component<'FollowupAttachment'> {}

/** The forge that a factory's pull requests are answered at, and how it answered last. */
export interface ForgeStatus extends Component<'ForgeStatus'> {}

/** Files that an ended run has left for whoever goes on. */
export interface HandoffAttachmentList extends Component<'HandoffAttachmentList'> {}

/** What a harness itself has measured of a run: nothing here, where tokens are counted whichever the harness (request_usage of the run). */
export interface HarnessUsage extends Component<'HarnessUsage'> {}

/** An image of a request, as older clients send it; it becomes the attachment image-1.png, image-2.jpg and so on. */
export interface ImageAttachment extends Component<'ImageAttachment'> {}

/** One object that is applied in a factory. */
export interface InventoryItem extends Component<'InventoryItem'> {}

/** One page of a list of runs. */
export interface ListRunsResponse extends Component<'ListRunsResponse'> {}

/** One page of a list of runs under their older name. */
export interface ListTasksResponse extends Component<'ListTasksResponse'> {}

/** One MCP server: a command that is started beside the agent, or a URL; exactly one of the two. */
export interface MCPServerConfig extends Component<'MCPServerConfig'> {}

/** A pull request that a revision came with. Titles and authors are foreign texts. */
export interface MergedPullRequest extends Component<'MergedPullRequest'> {}

/** A language model that a configuration can name. */
export interface Model extends Component<'Model'> {}

/** The models that are known here, and what drives them. */
export interface ModelList extends Component<'ModelList'> {}

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends Component<'OpenApiDocument'> {}

/** Whether a list goes on, and where. */
export interface PageInfo extends Component<'PageInfo'> {}

/** An answer to an agent that asks permission. Unknown members are ignored. */
export interface PermissionAnswer extends Component<'PermissionAnswer'> {}

/** Something that an agent asks permission for. */
export interface PermissionItem extends Component<'PermissionItem'> {}

/** What the agents of a run have asked permission for. */
export interface PermissionList extends Component<'PermissionList'> {}

/** One answer that an agent offers. */
export interface PermissionOption extends Component<'PermissionOption'> {}

/** What a pass over a tree, or over a ref of the followed repository, would do now. Nothing is written. */
export interface Plan extends Component<'Plan'> {}

/** Approves held deletions, a rewritten history, or what runs could do more, by their digest. */
export interface PlanApproval extends Component<'PlanApproval'> {}

/** A tree of definition files, or a ref of the repository that the factory follows: one of both. */
export interface PlanRequest extends Component<'PlanRequest'> {}

/** Who acts: a person or a program. */
export interface Principal extends Component<'Principal'> {}

/** An open pull request for the branch that a factory follows. Titles and authors are foreign texts. */
export interface PullRequest extends Component<'PullRequest'> {}

/** A page of a factory's open pull requests, highest number first. */
export interface PullRequestList extends Component<'PullRequestList'> {}

/** What a git host says of a push; any body will do, also none, also a form. What it says is a hint and is kept nowhere: the pass that follows asks git itself. */
export interface PushNotice extends Component<'PushNotice'> {}

/** What became of a push notice. */
export interface PushNoticeAnswer extends Component<'PushNoticeAnswer'> {}

/** Where a page moves to: nowhere, here. */
export interface RedirectProbe extends Component<'RedirectProbe'> {}

/** What a run has used up, as far as its harness tells. */
export interface RequestUsage extends Component<'RequestUsage'> {}

/** What became of one revision: whether it, or one that holds it, serves. */
export interface RevisionStatus extends Component<'RevisionStatus'> {}

/** A webhook whose secret was replaced. */
export interface RotatedWebhook extends Component<'RotatedWebhook'> {}

/** Creates a run. Members that are not served are ignored, and named in the answer. */
export interface RunAgentRequest extends Component<'RunAgentRequest'> {}

/** A run that was created. */
export interface RunAgentResponse extends Component<'RunAgentResponse'> {}

/** Who created a run, or who works on it. */
export interface RunCreatorInfo extends Component<'RunCreatorInfo'> {}

/** One entry of a run's log. */
export interface RunEvent extends Component<'RunEvent'> {}

/** Entries of a run's log in order. */
export interface RunEventList extends Component<'RunEventList'> {}

/** Steers or continues a run. Members that are not served are ignored, and named in the answer. */
export interface RunFollowupRequest extends Component<'RunFollowupRequest'> {}

/** A follow-up that was stored. */
export interface RunFollowupResponse extends Component<'RunFollowupResponse'> {}

/** UUIDv7 of a run. */
export type RunId = Component<'RunId'>;

/** A run with everything that is known of it. */
export interface RunItem extends Component<'RunItem'> {}

/** How the agent is asked to work. plan: in its own mode for planning where it has one, else it is asked for a plan and to change nothing. A command finds it in the variable MILLWRIGHT_RUN_MODE. */
export type RunMode = Component<'RunMode'>;

/** A run that was found by what it is about. */
export interface RunReference extends Component<'RunReference'> {}

/** The schedule that started a run. */
export interface RunSchedule extends Component<'RunSchedule'> {}

/** The skill that a run uses as its base prompt. */
export interface RunSkill extends Component<'RunSkill'> {}

/** What created a run. This service produces API, CLI, WEB_APP, CUSTOM_WEBHOOK and SCHEDULED_AGENT; the other names are known from the hosted service and match no run here. */
export type RunSourceType = Component<'RunSourceType'>;

/** State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again. */
export type RunState = Component<'RunState'>;

/** Runs by state and their start latency over time. */
export interface RunStatistics extends Component<'RunStatistics'> {}

/** Why a run is in its state. */
export interface RunStatusMessage extends Component<'RunStatusMessage'> {}

/** What happened to a run, oldest first. */
export interface RunTimeline extends Component<'RunTimeline'> {}

/** Makes a schedule. Members that are not served here are ignored, and named in the answer. */
export interface ScheduleCreate extends Component<'ScheduleCreate'> {}

/** A schedule was deleted. */
export interface ScheduleDeleted extends Component<'ScheduleDeleted'> {}

/** What starts runs by the clock: a schedule of its own, or a schedule trigger of an automation, which is changed where the automation is. */
export interface ScheduleItem extends Component<'ScheduleItem'> {}

/** The schedules that the key may see. */
export interface ScheduleList extends Component<'ScheduleList'> {}

/** Changes a schedule. What may be absent and is stays as it is; what is given replaces what was. Members that are not served here are ignored, and named in the answer. */
export interface ScheduleUpdate extends Component<'ScheduleUpdate'> {}

/** The JSON Schemas of the definition files. */
export interface SchemaDocumentList extends Component<'SchemaDocumentList'> {}

/** A managed secret without its value, which nobody can see again. */
export interface Secret extends Component<'Secret'> {}

/** A page of managed secrets in order of their names. */
export interface SecretList extends Component<'SecretList'> {}

/** Sets a managed secret's value, its grants, or both. With neither it is declared: it exists and authenticates nobody. */
export interface SecretPut extends Component<'SecretPut'> {}

/** What would break without a secret. */
export interface SecretUser extends Component<'SecretUser'> {}

/** Who is signed in, and what requests of this session have to carry. */
export interface Session extends Component<'Session'> {}

/** Signs a browser in with an API key. */
export interface SessionCreate extends Component<'SessionCreate'> {}

/** A provider’s way to sign requests, as a webhook may name it. */
export interface SignatureScheme extends Component<'SignatureScheme'> {}

/** Signature schemes that webhooks may name, and known ones that they may not. */
export interface SignatureSchemeList extends Component<'SignatureSchemeList'> {}

/** One pass that brought something new. */
export interface Sync extends Component<'Sync'> {}

/** A page of a factory's passes, newest first. Passes that say a lot make shorter pages. */
export interface SyncList extends Component<'SyncList'> {}

/** What is asked of commits before they may apply, and when they may. It stands here and not in the repository, so that who may commit may not decide it. Empty: nothing is asked. */
export interface SyncPolicy extends Component<'SyncPolicy'> {}

/** One thing that happened to a run. */
export interface TimelineEvent extends Component<'TimelineEvent'> {}

/** Exchanges a token of a build server for a key (RFC 8693, as JSON). */
export interface TokenExchange extends Component<'TokenExchange'> {}

/** One file of a factory's tree. */
export interface TreeFile extends Component<'TreeFile'> {}

/** An HTTPS address of a factory that accepts JSON deliveries. Its secret is never part of it. */
export interface Webhook extends Component<'Webhook'> {}

/** Makes a webhook on a factory that is managed here. Without `secret`, and without a `secret_name` that exists, a secret is generated, except for provider schemes: there the webhook is made disabled, to be finished when the provider’s secret is known. */
export interface WebhookCreate extends Component<'WebhookCreate'> {}

/** A new webhook, with what is shown this once. */
export type WebhookCreated = Component<'WebhookCreated'>;

/** Webhooks of a factory by slug. */
export interface WebhookList extends Component<'WebhookList'> {}

/** Changes a webhook of a factory that is managed here; members that are absent stay. It acts on the next delivery. */
export interface WebhookPatch extends Component<'WebhookPatch'> {}

/** Replaces a webhook’s secret; the old one is dead with the answer. */
export interface WebhookRotate extends Component<'WebhookRotate'> {}

/** The webhook with its new secret in use, and every webhook that shares the secret. */
export type WebhookRotated = Component<'WebhookRotated'>;

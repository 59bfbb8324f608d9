package antiphon.history.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Carries routed messages between owners (ADR-0006 D5). An exchange is a named
 * space of owners; it needs no making. Each owner has an outbox and an inbox.
 * Send puts a message into its sender's outbox; Collect takes the outbox in
 * order and delivers; Receive, Pop and Lease read inboxes.
 * Nothing vanishes: what cannot be delivered becomes a dead letter with its
 * reason. Everything is on stable storage when it is answered, one transaction
 * a step: a crash between any two steps loses and repeats nothing that was
 * acknowledged.
 * What moves many messages (Collect, CollectAll, Send where it delivers,
 * UnregisterOwner, and Lease and Pop after many leases have ended) takes several
 * steps, with the writes of others between them. The first is short, some 1,000
 * messages or 90 inboxes, and nearly always the only one; what needs more takes
 * turns with others of its kind: a step moves some 16,000 messages at most, fewer
 * the more inboxes they go to, and a broadcast in one step to all. Each message meets the exchange as it is at its step. Cut short
 * by a crash or a deadline, it has moved the first of its messages; sent again
 * with its request_id it goes on where it stopped and answers as if it had been
 * done at once.
 * `request_id` makes a step safe to send again, as in HistoryService: the same
 * request under the same id returns the first response with `replayed` set, and
 * another request is REQUEST_ID_REUSED.
 * `exchange_id` is any text of 1 to 512 bytes; owner ids are UUIDs in canonical
 * lower-case text.
 * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
 * SIZE_LIMIT_EXCEEDED, CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED,
 * STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and INTERNAL_ERROR. With tokens
 * configured exchanges are the caller's tenant's own.
 * </pre>
 */
@javax.annotation.Generated(
    value = "by gRPC proto compiler",
    comments = "Source: antiphon/history/v1/exchange_service.proto")
@io.grpc.stub.annotations.GrpcGenerated
public final class ExchangeServiceGrpc {

  private ExchangeServiceGrpc() {}

  public static final String SERVICE_NAME = "antiphon.history.v1.ExchangeService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.RegisterOwnerRequest,
      antiphon.history.v1.RegisterOwnerResponse> getRegisterOwnerMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RegisterOwner",
      requestType = antiphon.history.v1.RegisterOwnerRequest.class,
      responseType = antiphon.history.v1.RegisterOwnerResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.RegisterOwnerRequest,
      antiphon.history.v1.RegisterOwnerResponse> getRegisterOwnerMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.RegisterOwnerRequest, antiphon.history.v1.RegisterOwnerResponse> getRegisterOwnerMethod;
    if ((getRegisterOwnerMethod = ExchangeServiceGrpc.getRegisterOwnerMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getRegisterOwnerMethod = ExchangeServiceGrpc.getRegisterOwnerMethod) == null) {
          ExchangeServiceGrpc.getRegisterOwnerMethod = getRegisterOwnerMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.RegisterOwnerRequest, antiphon.history.v1.RegisterOwnerResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RegisterOwner"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RegisterOwnerRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RegisterOwnerResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("RegisterOwner"))
              .build();
        }
      }
    }
    return getRegisterOwnerMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.UnregisterOwnerRequest,
      antiphon.history.v1.UnregisterOwnerResponse> getUnregisterOwnerMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UnregisterOwner",
      requestType = antiphon.history.v1.UnregisterOwnerRequest.class,
      responseType = antiphon.history.v1.UnregisterOwnerResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.UnregisterOwnerRequest,
      antiphon.history.v1.UnregisterOwnerResponse> getUnregisterOwnerMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.UnregisterOwnerRequest, antiphon.history.v1.UnregisterOwnerResponse> getUnregisterOwnerMethod;
    if ((getUnregisterOwnerMethod = ExchangeServiceGrpc.getUnregisterOwnerMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getUnregisterOwnerMethod = ExchangeServiceGrpc.getUnregisterOwnerMethod) == null) {
          ExchangeServiceGrpc.getUnregisterOwnerMethod = getUnregisterOwnerMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.UnregisterOwnerRequest, antiphon.history.v1.UnregisterOwnerResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UnregisterOwner"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.UnregisterOwnerRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.UnregisterOwnerResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("UnregisterOwner"))
              .build();
        }
      }
    }
    return getUnregisterOwnerMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ListOwnersRequest,
      antiphon.history.v1.ListOwnersResponse> getListOwnersMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListOwners",
      requestType = antiphon.history.v1.ListOwnersRequest.class,
      responseType = antiphon.history.v1.ListOwnersResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ListOwnersRequest,
      antiphon.history.v1.ListOwnersResponse> getListOwnersMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ListOwnersRequest, antiphon.history.v1.ListOwnersResponse> getListOwnersMethod;
    if ((getListOwnersMethod = ExchangeServiceGrpc.getListOwnersMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getListOwnersMethod = ExchangeServiceGrpc.getListOwnersMethod) == null) {
          ExchangeServiceGrpc.getListOwnersMethod = getListOwnersMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ListOwnersRequest, antiphon.history.v1.ListOwnersResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListOwners"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListOwnersRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListOwnersResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("ListOwners"))
              .build();
        }
      }
    }
    return getListOwnersMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.SendRequest,
      antiphon.history.v1.SendResponse> getSendMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Send",
      requestType = antiphon.history.v1.SendRequest.class,
      responseType = antiphon.history.v1.SendResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.SendRequest,
      antiphon.history.v1.SendResponse> getSendMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.SendRequest, antiphon.history.v1.SendResponse> getSendMethod;
    if ((getSendMethod = ExchangeServiceGrpc.getSendMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getSendMethod = ExchangeServiceGrpc.getSendMethod) == null) {
          ExchangeServiceGrpc.getSendMethod = getSendMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.SendRequest, antiphon.history.v1.SendResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Send"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.SendRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.SendResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Send"))
              .build();
        }
      }
    }
    return getSendMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.CollectRequest,
      antiphon.history.v1.CollectResponse> getCollectMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Collect",
      requestType = antiphon.history.v1.CollectRequest.class,
      responseType = antiphon.history.v1.CollectResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.CollectRequest,
      antiphon.history.v1.CollectResponse> getCollectMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.CollectRequest, antiphon.history.v1.CollectResponse> getCollectMethod;
    if ((getCollectMethod = ExchangeServiceGrpc.getCollectMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getCollectMethod = ExchangeServiceGrpc.getCollectMethod) == null) {
          ExchangeServiceGrpc.getCollectMethod = getCollectMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.CollectRequest, antiphon.history.v1.CollectResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Collect"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CollectRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CollectResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Collect"))
              .build();
        }
      }
    }
    return getCollectMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.CollectAllRequest,
      antiphon.history.v1.CollectAllResponse> getCollectAllMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CollectAll",
      requestType = antiphon.history.v1.CollectAllRequest.class,
      responseType = antiphon.history.v1.CollectAllResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.CollectAllRequest,
      antiphon.history.v1.CollectAllResponse> getCollectAllMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.CollectAllRequest, antiphon.history.v1.CollectAllResponse> getCollectAllMethod;
    if ((getCollectAllMethod = ExchangeServiceGrpc.getCollectAllMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getCollectAllMethod = ExchangeServiceGrpc.getCollectAllMethod) == null) {
          ExchangeServiceGrpc.getCollectAllMethod = getCollectAllMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.CollectAllRequest, antiphon.history.v1.CollectAllResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CollectAll"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CollectAllRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CollectAllResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("CollectAll"))
              .build();
        }
      }
    }
    return getCollectAllMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ReceiveRequest,
      antiphon.history.v1.ReceiveResponse> getReceiveMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Receive",
      requestType = antiphon.history.v1.ReceiveRequest.class,
      responseType = antiphon.history.v1.ReceiveResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ReceiveRequest,
      antiphon.history.v1.ReceiveResponse> getReceiveMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ReceiveRequest, antiphon.history.v1.ReceiveResponse> getReceiveMethod;
    if ((getReceiveMethod = ExchangeServiceGrpc.getReceiveMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getReceiveMethod = ExchangeServiceGrpc.getReceiveMethod) == null) {
          ExchangeServiceGrpc.getReceiveMethod = getReceiveMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ReceiveRequest, antiphon.history.v1.ReceiveResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Receive"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ReceiveRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ReceiveResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Receive"))
              .build();
        }
      }
    }
    return getReceiveMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.PopRequest,
      antiphon.history.v1.PopResponse> getPopMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Pop",
      requestType = antiphon.history.v1.PopRequest.class,
      responseType = antiphon.history.v1.PopResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.PopRequest,
      antiphon.history.v1.PopResponse> getPopMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.PopRequest, antiphon.history.v1.PopResponse> getPopMethod;
    if ((getPopMethod = ExchangeServiceGrpc.getPopMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getPopMethod = ExchangeServiceGrpc.getPopMethod) == null) {
          ExchangeServiceGrpc.getPopMethod = getPopMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.PopRequest, antiphon.history.v1.PopResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Pop"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.PopRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.PopResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Pop"))
              .build();
        }
      }
    }
    return getPopMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.LeaseRequest,
      antiphon.history.v1.LeaseResponse> getLeaseMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Lease",
      requestType = antiphon.history.v1.LeaseRequest.class,
      responseType = antiphon.history.v1.LeaseResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.LeaseRequest,
      antiphon.history.v1.LeaseResponse> getLeaseMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.LeaseRequest, antiphon.history.v1.LeaseResponse> getLeaseMethod;
    if ((getLeaseMethod = ExchangeServiceGrpc.getLeaseMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getLeaseMethod = ExchangeServiceGrpc.getLeaseMethod) == null) {
          ExchangeServiceGrpc.getLeaseMethod = getLeaseMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.LeaseRequest, antiphon.history.v1.LeaseResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Lease"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.LeaseRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.LeaseResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Lease"))
              .build();
        }
      }
    }
    return getLeaseMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.AcknowledgeRequest,
      antiphon.history.v1.AcknowledgeResponse> getAcknowledgeMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Acknowledge",
      requestType = antiphon.history.v1.AcknowledgeRequest.class,
      responseType = antiphon.history.v1.AcknowledgeResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.AcknowledgeRequest,
      antiphon.history.v1.AcknowledgeResponse> getAcknowledgeMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.AcknowledgeRequest, antiphon.history.v1.AcknowledgeResponse> getAcknowledgeMethod;
    if ((getAcknowledgeMethod = ExchangeServiceGrpc.getAcknowledgeMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getAcknowledgeMethod = ExchangeServiceGrpc.getAcknowledgeMethod) == null) {
          ExchangeServiceGrpc.getAcknowledgeMethod = getAcknowledgeMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.AcknowledgeRequest, antiphon.history.v1.AcknowledgeResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Acknowledge"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.AcknowledgeRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.AcknowledgeResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Acknowledge"))
              .build();
        }
      }
    }
    return getAcknowledgeMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.RejectRequest,
      antiphon.history.v1.RejectResponse> getRejectMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Reject",
      requestType = antiphon.history.v1.RejectRequest.class,
      responseType = antiphon.history.v1.RejectResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.RejectRequest,
      antiphon.history.v1.RejectResponse> getRejectMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.RejectRequest, antiphon.history.v1.RejectResponse> getRejectMethod;
    if ((getRejectMethod = ExchangeServiceGrpc.getRejectMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getRejectMethod = ExchangeServiceGrpc.getRejectMethod) == null) {
          ExchangeServiceGrpc.getRejectMethod = getRejectMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.RejectRequest, antiphon.history.v1.RejectResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Reject"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RejectRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RejectResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("Reject"))
              .build();
        }
      }
    }
    return getRejectMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ListDeadLettersRequest,
      antiphon.history.v1.ListDeadLettersResponse> getListDeadLettersMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListDeadLetters",
      requestType = antiphon.history.v1.ListDeadLettersRequest.class,
      responseType = antiphon.history.v1.ListDeadLettersResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ListDeadLettersRequest,
      antiphon.history.v1.ListDeadLettersResponse> getListDeadLettersMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ListDeadLettersRequest, antiphon.history.v1.ListDeadLettersResponse> getListDeadLettersMethod;
    if ((getListDeadLettersMethod = ExchangeServiceGrpc.getListDeadLettersMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getListDeadLettersMethod = ExchangeServiceGrpc.getListDeadLettersMethod) == null) {
          ExchangeServiceGrpc.getListDeadLettersMethod = getListDeadLettersMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ListDeadLettersRequest, antiphon.history.v1.ListDeadLettersResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListDeadLetters"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListDeadLettersRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListDeadLettersResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("ListDeadLetters"))
              .build();
        }
      }
    }
    return getListDeadLettersMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.RedriveDeadLetterRequest,
      antiphon.history.v1.RedriveDeadLetterResponse> getRedriveDeadLetterMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RedriveDeadLetter",
      requestType = antiphon.history.v1.RedriveDeadLetterRequest.class,
      responseType = antiphon.history.v1.RedriveDeadLetterResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.RedriveDeadLetterRequest,
      antiphon.history.v1.RedriveDeadLetterResponse> getRedriveDeadLetterMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.RedriveDeadLetterRequest, antiphon.history.v1.RedriveDeadLetterResponse> getRedriveDeadLetterMethod;
    if ((getRedriveDeadLetterMethod = ExchangeServiceGrpc.getRedriveDeadLetterMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getRedriveDeadLetterMethod = ExchangeServiceGrpc.getRedriveDeadLetterMethod) == null) {
          ExchangeServiceGrpc.getRedriveDeadLetterMethod = getRedriveDeadLetterMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.RedriveDeadLetterRequest, antiphon.history.v1.RedriveDeadLetterResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RedriveDeadLetter"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RedriveDeadLetterRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RedriveDeadLetterResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("RedriveDeadLetter"))
              .build();
        }
      }
    }
    return getRedriveDeadLetterMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.WatchInboxRequest,
      antiphon.history.v1.WatchInboxResponse> getWatchInboxMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchInbox",
      requestType = antiphon.history.v1.WatchInboxRequest.class,
      responseType = antiphon.history.v1.WatchInboxResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.WatchInboxRequest,
      antiphon.history.v1.WatchInboxResponse> getWatchInboxMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.WatchInboxRequest, antiphon.history.v1.WatchInboxResponse> getWatchInboxMethod;
    if ((getWatchInboxMethod = ExchangeServiceGrpc.getWatchInboxMethod) == null) {
      synchronized (ExchangeServiceGrpc.class) {
        if ((getWatchInboxMethod = ExchangeServiceGrpc.getWatchInboxMethod) == null) {
          ExchangeServiceGrpc.getWatchInboxMethod = getWatchInboxMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.WatchInboxRequest, antiphon.history.v1.WatchInboxResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchInbox"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.WatchInboxRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.WatchInboxResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ExchangeServiceMethodDescriptorSupplier("WatchInbox"))
              .build();
        }
      }
    }
    return getWatchInboxMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ExchangeServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ExchangeServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ExchangeServiceStub>() {
        @java.lang.Override
        public ExchangeServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ExchangeServiceStub(channel, callOptions);
        }
      };
    return ExchangeServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ExchangeServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ExchangeServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ExchangeServiceBlockingStub>() {
        @java.lang.Override
        public ExchangeServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ExchangeServiceBlockingStub(channel, callOptions);
        }
      };
    return ExchangeServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ExchangeServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ExchangeServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ExchangeServiceFutureStub>() {
        @java.lang.Override
        public ExchangeServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ExchangeServiceFutureStub(channel, callOptions);
        }
      };
    return ExchangeServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Carries routed messages between owners (ADR-0006 D5). An exchange is a named
   * space of owners; it needs no making. Each owner has an outbox and an inbox.
   * Send puts a message into its sender's outbox; Collect takes the outbox in
   * order and delivers; Receive, Pop and Lease read inboxes.
   * Nothing vanishes: what cannot be delivered becomes a dead letter with its
   * reason. Everything is on stable storage when it is answered, one transaction
   * a step: a crash between any two steps loses and repeats nothing that was
   * acknowledged.
   * What moves many messages (Collect, CollectAll, Send where it delivers,
   * UnregisterOwner, and Lease and Pop after many leases have ended) takes several
   * steps, with the writes of others between them. The first is short, some 1,000
   * messages or 90 inboxes, and nearly always the only one; what needs more takes
   * turns with others of its kind: a step moves some 16,000 messages at most, fewer
   * the more inboxes they go to, and a broadcast in one step to all. Each message meets the exchange as it is at its step. Cut short
   * by a crash or a deadline, it has moved the first of its messages; sent again
   * with its request_id it goes on where it stopped and answers as if it had been
   * done at once.
   * `request_id` makes a step safe to send again, as in HistoryService: the same
   * request under the same id returns the first response with `replayed` set, and
   * another request is REQUEST_ID_REUSED.
   * `exchange_id` is any text of 1 to 512 bytes; owner ids are UUIDs in canonical
   * lower-case text.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED, CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED,
   * STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and INTERNAL_ERROR. With tokens
   * configured exchanges are the caller's tenant's own.
   * </pre>
   */
  public static abstract class ExchangeServiceImplBase implements io.grpc.BindableService {

    /**
     * <pre>
     * Registers an owner.
     * Errors: OWNER_EXISTS, QUOTA_EXCEEDED (owners). Idempotent by request_id.
     * Cost: constant.
     * </pre>
     */
    public void registerOwner(antiphon.history.v1.RegisterOwnerRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RegisterOwnerResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRegisterOwnerMethod(), responseObserver);
    }

    /**
     * <pre>
     * Unregisters an owner. Its queued mail, inbox and outbox, becomes dead
     * letters, or comes back in the response, as asked; leases on it are lost. An
     * unknown owner is no error. An owner that registers again starts empty and
     * its inbox's sequence goes on. Where the mail takes several steps, the owner
     * is registered until the last, and goes on receiving: cut short, the call has
     * made the first of its mail dead letters and the owner is still there. The
     * same call again, with its request_id or without, finishes it.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the mail.
     * </pre>
     */
    public void unregisterOwner(antiphon.history.v1.UnregisterOwnerRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.UnregisterOwnerResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUnregisterOwnerMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists owners in registration order. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void listOwners(antiphon.history.v1.ListOwnersRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListOwnersResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListOwnersMethod(), responseObserver);
    }

    /**
     * <pre>
     * Queues a message in its sender's outbox; where the exchange delivers at
     * send, collects the outbox at once. The recipient need not be registered.
     * Without a recipient member id the message can only be a broadcast or a dead
     * letter, which shows when it is collected.
     * Errors: OWNER_NOT_FOUND (the sender), FIELD_INVALID, QUOTA_EXCEEDED.
     * Idempotent by request_id. Cost: constant, plus delivery.
     * </pre>
     */
    public void send(antiphon.history.v1.SendRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.SendResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSendMethod(), responseObserver);
    }

    /**
     * <pre>
     * Takes what is in an owner's outbox, in order, and delivers: a broadcast to
     * every other registered owner, under one message id; a direct message to its member.
     * All else becomes a dead letter. It stops before a broadcast whose copies
     * would take the exchange beyond its limits: that one and what follows stay
     * queued.
     * Errors: OWNER_NOT_FOUND. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public void collect(antiphon.history.v1.CollectRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CollectResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCollectMethod(), responseObserver);
    }

    /**
     * <pre>
     * Collects for every owner registered now, in registration order, in steps
     * that may each be about many owners; owners gone by their turn are skipped.
     * Errors: none of its own. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public void collectAll(antiphon.history.v1.CollectAllRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CollectAllResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCollectAllMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads an inbox without taking anything, in delivery order, leased mail
     * included; narrowed to one sender if asked. An unknown owner has an empty
     * one.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void receive(antiphon.history.v1.ReceiveRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ReceiveResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReceiveMethod(), responseObserver);
    }

    /**
     * <pre>
     * Removes and returns the oldest message of one sender that is not leased.
     * None, or an unknown owner, is no error.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void pop(antiphon.history.v1.PopRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.PopResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPopMethod(), responseObserver);
    }

    /**
     * <pre>
     * Hands out the oldest messages that are not leased, and hides them from
     * Pop and other leases for a time. Acknowledge removes them; Reject, or the
     * time's end, brings them back at their place, delivered once more; beyond
     * the exchange's limit of deliveries they become dead letters instead. A lease
     * that ends by itself is noticed by the next Lease, Pop or UnregisterOwner on
     * the inbox.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the
     * messages.
     * </pre>
     */
    public void lease(antiphon.history.v1.LeaseRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.LeaseResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getLeaseMethod(), responseObserver);
    }

    /**
     * <pre>
     * Removes leased messages for good, all or none. A lease is lost from the
     * instant it expires on.
     * Errors: LEASE_LOST (all lost ones are listed). Idempotent by request_id.
     * Cost: that of the leases.
     * </pre>
     */
    public void acknowledge(antiphon.history.v1.AcknowledgeRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.AcknowledgeResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getAcknowledgeMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives leased messages back at once, all or none.
     * Errors: LEASE_LOST. Idempotent by request_id. Cost: that of the leases.
     * </pre>
     */
    public void reject(antiphon.history.v1.RejectRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RejectResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRejectMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists dead letters, oldest first. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void listDeadLetters(antiphon.history.v1.ListDeadLettersRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListDeadLettersResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListDeadLettersMethod(), responseObserver);
    }

    /**
     * <pre>
     * Takes a dead letter and delivers its message to an owner, with a fresh count
     * of deliveries.
     * Errors: MESSAGE_NOT_FOUND, OWNER_NOT_FOUND (the recipient),
     * QUOTA_EXCEEDED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void redriveDeadLetter(antiphon.history.v1.RedriveDeadLetterRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RedriveDeadLetterResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRedriveDeadLetterMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams the deliveries to an inbox after a sequence number, in order, each
     * at least once, those consumed meanwhile left out; then stays open. Resume
     * with the last sequence seen. It takes nothing: Lease or Pop does. An
     * unknown owner's stream waits for it to register.
     * Errors: none of its own. Cost: that of the deliveries.
     * </pre>
     */
    public void watchInbox(antiphon.history.v1.WatchInboxRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.WatchInboxResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchInboxMethod(), responseObserver);
    }

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
          .addMethod(
            getRegisterOwnerMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.RegisterOwnerRequest,
                antiphon.history.v1.RegisterOwnerResponse>(
                  this, METHODID_REGISTER_OWNER)))
          .addMethod(
            getUnregisterOwnerMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.UnregisterOwnerRequest,
                antiphon.history.v1.UnregisterOwnerResponse>(
                  this, METHODID_UNREGISTER_OWNER)))
          .addMethod(
            getListOwnersMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ListOwnersRequest,
                antiphon.history.v1.ListOwnersResponse>(
                  this, METHODID_LIST_OWNERS)))
          .addMethod(
            getSendMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.SendRequest,
                antiphon.history.v1.SendResponse>(
                  this, METHODID_SEND)))
          .addMethod(
            getCollectMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.CollectRequest,
                antiphon.history.v1.CollectResponse>(
                  this, METHODID_COLLECT)))
          .addMethod(
            getCollectAllMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.CollectAllRequest,
                antiphon.history.v1.CollectAllResponse>(
                  this, METHODID_COLLECT_ALL)))
          .addMethod(
            getReceiveMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ReceiveRequest,
                antiphon.history.v1.ReceiveResponse>(
                  this, METHODID_RECEIVE)))
          .addMethod(
            getPopMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.PopRequest,
                antiphon.history.v1.PopResponse>(
                  this, METHODID_POP)))
          .addMethod(
            getLeaseMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.LeaseRequest,
                antiphon.history.v1.LeaseResponse>(
                  this, METHODID_LEASE)))
          .addMethod(
            getAcknowledgeMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.AcknowledgeRequest,
                antiphon.history.v1.AcknowledgeResponse>(
                  this, METHODID_ACKNOWLEDGE)))
          .addMethod(
            getRejectMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.RejectRequest,
                antiphon.history.v1.RejectResponse>(
                  this, METHODID_REJECT)))
          .addMethod(
            getListDeadLettersMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ListDeadLettersRequest,
                antiphon.history.v1.ListDeadLettersResponse>(
                  this, METHODID_LIST_DEAD_LETTERS)))
          .addMethod(
            getRedriveDeadLetterMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.RedriveDeadLetterRequest,
                antiphon.history.v1.RedriveDeadLetterResponse>(
                  this, METHODID_REDRIVE_DEAD_LETTER)))
          .addMethod(
            getWatchInboxMethod(),
            io.grpc.stub.ServerCalls.asyncServerStreamingCall(
              new MethodHandlers<
                antiphon.history.v1.WatchInboxRequest,
                antiphon.history.v1.WatchInboxResponse>(
                  this, METHODID_WATCH_INBOX)))
          .build();
    }
  }

  /**
   * <pre>
   * Carries routed messages between owners (ADR-0006 D5). An exchange is a named
   * space of owners; it needs no making. Each owner has an outbox and an inbox.
   * Send puts a message into its sender's outbox; Collect takes the outbox in
   * order and delivers; Receive, Pop and Lease read inboxes.
   * Nothing vanishes: what cannot be delivered becomes a dead letter with its
   * reason. Everything is on stable storage when it is answered, one transaction
   * a step: a crash between any two steps loses and repeats nothing that was
   * acknowledged.
   * What moves many messages (Collect, CollectAll, Send where it delivers,
   * UnregisterOwner, and Lease and Pop after many leases have ended) takes several
   * steps, with the writes of others between them. The first is short, some 1,000
   * messages or 90 inboxes, and nearly always the only one; what needs more takes
   * turns with others of its kind: a step moves some 16,000 messages at most, fewer
   * the more inboxes they go to, and a broadcast in one step to all. Each message meets the exchange as it is at its step. Cut short
   * by a crash or a deadline, it has moved the first of its messages; sent again
   * with its request_id it goes on where it stopped and answers as if it had been
   * done at once.
   * `request_id` makes a step safe to send again, as in HistoryService: the same
   * request under the same id returns the first response with `replayed` set, and
   * another request is REQUEST_ID_REUSED.
   * `exchange_id` is any text of 1 to 512 bytes; owner ids are UUIDs in canonical
   * lower-case text.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED, CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED,
   * STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and INTERNAL_ERROR. With tokens
   * configured exchanges are the caller's tenant's own.
   * </pre>
   */
  public static final class ExchangeServiceStub extends io.grpc.stub.AbstractAsyncStub<ExchangeServiceStub> {
    private ExchangeServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ExchangeServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ExchangeServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Registers an owner.
     * Errors: OWNER_EXISTS, QUOTA_EXCEEDED (owners). Idempotent by request_id.
     * Cost: constant.
     * </pre>
     */
    public void registerOwner(antiphon.history.v1.RegisterOwnerRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RegisterOwnerResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRegisterOwnerMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Unregisters an owner. Its queued mail, inbox and outbox, becomes dead
     * letters, or comes back in the response, as asked; leases on it are lost. An
     * unknown owner is no error. An owner that registers again starts empty and
     * its inbox's sequence goes on. Where the mail takes several steps, the owner
     * is registered until the last, and goes on receiving: cut short, the call has
     * made the first of its mail dead letters and the owner is still there. The
     * same call again, with its request_id or without, finishes it.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the mail.
     * </pre>
     */
    public void unregisterOwner(antiphon.history.v1.UnregisterOwnerRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.UnregisterOwnerResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUnregisterOwnerMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists owners in registration order. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void listOwners(antiphon.history.v1.ListOwnersRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListOwnersResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListOwnersMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Queues a message in its sender's outbox; where the exchange delivers at
     * send, collects the outbox at once. The recipient need not be registered.
     * Without a recipient member id the message can only be a broadcast or a dead
     * letter, which shows when it is collected.
     * Errors: OWNER_NOT_FOUND (the sender), FIELD_INVALID, QUOTA_EXCEEDED.
     * Idempotent by request_id. Cost: constant, plus delivery.
     * </pre>
     */
    public void send(antiphon.history.v1.SendRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.SendResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSendMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Takes what is in an owner's outbox, in order, and delivers: a broadcast to
     * every other registered owner, under one message id; a direct message to its member.
     * All else becomes a dead letter. It stops before a broadcast whose copies
     * would take the exchange beyond its limits: that one and what follows stay
     * queued.
     * Errors: OWNER_NOT_FOUND. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public void collect(antiphon.history.v1.CollectRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CollectResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCollectMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Collects for every owner registered now, in registration order, in steps
     * that may each be about many owners; owners gone by their turn are skipped.
     * Errors: none of its own. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public void collectAll(antiphon.history.v1.CollectAllRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CollectAllResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCollectAllMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads an inbox without taking anything, in delivery order, leased mail
     * included; narrowed to one sender if asked. An unknown owner has an empty
     * one.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void receive(antiphon.history.v1.ReceiveRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ReceiveResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getReceiveMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Removes and returns the oldest message of one sender that is not leased.
     * None, or an unknown owner, is no error.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void pop(antiphon.history.v1.PopRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.PopResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPopMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Hands out the oldest messages that are not leased, and hides them from
     * Pop and other leases for a time. Acknowledge removes them; Reject, or the
     * time's end, brings them back at their place, delivered once more; beyond
     * the exchange's limit of deliveries they become dead letters instead. A lease
     * that ends by itself is noticed by the next Lease, Pop or UnregisterOwner on
     * the inbox.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the
     * messages.
     * </pre>
     */
    public void lease(antiphon.history.v1.LeaseRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.LeaseResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getLeaseMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Removes leased messages for good, all or none. A lease is lost from the
     * instant it expires on.
     * Errors: LEASE_LOST (all lost ones are listed). Idempotent by request_id.
     * Cost: that of the leases.
     * </pre>
     */
    public void acknowledge(antiphon.history.v1.AcknowledgeRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.AcknowledgeResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getAcknowledgeMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives leased messages back at once, all or none.
     * Errors: LEASE_LOST. Idempotent by request_id. Cost: that of the leases.
     * </pre>
     */
    public void reject(antiphon.history.v1.RejectRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RejectResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRejectMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists dead letters, oldest first. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void listDeadLetters(antiphon.history.v1.ListDeadLettersRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListDeadLettersResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListDeadLettersMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Takes a dead letter and delivers its message to an owner, with a fresh count
     * of deliveries.
     * Errors: MESSAGE_NOT_FOUND, OWNER_NOT_FOUND (the recipient),
     * QUOTA_EXCEEDED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void redriveDeadLetter(antiphon.history.v1.RedriveDeadLetterRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RedriveDeadLetterResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRedriveDeadLetterMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams the deliveries to an inbox after a sequence number, in order, each
     * at least once, those consumed meanwhile left out; then stays open. Resume
     * with the last sequence seen. It takes nothing: Lease or Pop does. An
     * unknown owner's stream waits for it to register.
     * Errors: none of its own. Cost: that of the deliveries.
     * </pre>
     */
    public void watchInbox(antiphon.history.v1.WatchInboxRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.WatchInboxResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchInboxMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * <pre>
   * Carries routed messages between owners (ADR-0006 D5). An exchange is a named
   * space of owners; it needs no making. Each owner has an outbox and an inbox.
   * Send puts a message into its sender's outbox; Collect takes the outbox in
   * order and delivers; Receive, Pop and Lease read inboxes.
   * Nothing vanishes: what cannot be delivered becomes a dead letter with its
   * reason. Everything is on stable storage when it is answered, one transaction
   * a step: a crash between any two steps loses and repeats nothing that was
   * acknowledged.
   * What moves many messages (Collect, CollectAll, Send where it delivers,
   * UnregisterOwner, and Lease and Pop after many leases have ended) takes several
   * steps, with the writes of others between them. The first is short, some 1,000
   * messages or 90 inboxes, and nearly always the only one; what needs more takes
   * turns with others of its kind: a step moves some 16,000 messages at most, fewer
   * the more inboxes they go to, and a broadcast in one step to all. Each message meets the exchange as it is at its step. Cut short
   * by a crash or a deadline, it has moved the first of its messages; sent again
   * with its request_id it goes on where it stopped and answers as if it had been
   * done at once.
   * `request_id` makes a step safe to send again, as in HistoryService: the same
   * request under the same id returns the first response with `replayed` set, and
   * another request is REQUEST_ID_REUSED.
   * `exchange_id` is any text of 1 to 512 bytes; owner ids are UUIDs in canonical
   * lower-case text.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED, CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED,
   * STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and INTERNAL_ERROR. With tokens
   * configured exchanges are the caller's tenant's own.
   * </pre>
   */
  public static final class ExchangeServiceBlockingStub extends io.grpc.stub.AbstractBlockingStub<ExchangeServiceBlockingStub> {
    private ExchangeServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ExchangeServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ExchangeServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Registers an owner.
     * Errors: OWNER_EXISTS, QUOTA_EXCEEDED (owners). Idempotent by request_id.
     * Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.RegisterOwnerResponse registerOwner(antiphon.history.v1.RegisterOwnerRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRegisterOwnerMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Unregisters an owner. Its queued mail, inbox and outbox, becomes dead
     * letters, or comes back in the response, as asked; leases on it are lost. An
     * unknown owner is no error. An owner that registers again starts empty and
     * its inbox's sequence goes on. Where the mail takes several steps, the owner
     * is registered until the last, and goes on receiving: cut short, the call has
     * made the first of its mail dead letters and the owner is still there. The
     * same call again, with its request_id or without, finishes it.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the mail.
     * </pre>
     */
    public antiphon.history.v1.UnregisterOwnerResponse unregisterOwner(antiphon.history.v1.UnregisterOwnerRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUnregisterOwnerMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists owners in registration order. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public antiphon.history.v1.ListOwnersResponse listOwners(antiphon.history.v1.ListOwnersRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListOwnersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Queues a message in its sender's outbox; where the exchange delivers at
     * send, collects the outbox at once. The recipient need not be registered.
     * Without a recipient member id the message can only be a broadcast or a dead
     * letter, which shows when it is collected.
     * Errors: OWNER_NOT_FOUND (the sender), FIELD_INVALID, QUOTA_EXCEEDED.
     * Idempotent by request_id. Cost: constant, plus delivery.
     * </pre>
     */
    public antiphon.history.v1.SendResponse send(antiphon.history.v1.SendRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSendMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes what is in an owner's outbox, in order, and delivers: a broadcast to
     * every other registered owner, under one message id; a direct message to its member.
     * All else becomes a dead letter. It stops before a broadcast whose copies
     * would take the exchange beyond its limits: that one and what follows stay
     * queued.
     * Errors: OWNER_NOT_FOUND. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public antiphon.history.v1.CollectResponse collect(antiphon.history.v1.CollectRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCollectMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Collects for every owner registered now, in registration order, in steps
     * that may each be about many owners; owners gone by their turn are skipped.
     * Errors: none of its own. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public antiphon.history.v1.CollectAllResponse collectAll(antiphon.history.v1.CollectAllRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCollectAllMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads an inbox without taking anything, in delivery order, leased mail
     * included; narrowed to one sender if asked. An unknown owner has an empty
     * one.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public antiphon.history.v1.ReceiveResponse receive(antiphon.history.v1.ReceiveRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getReceiveMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes and returns the oldest message of one sender that is not leased.
     * None, or an unknown owner, is no error.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.PopResponse pop(antiphon.history.v1.PopRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPopMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out the oldest messages that are not leased, and hides them from
     * Pop and other leases for a time. Acknowledge removes them; Reject, or the
     * time's end, brings them back at their place, delivered once more; beyond
     * the exchange's limit of deliveries they become dead letters instead. A lease
     * that ends by itself is noticed by the next Lease, Pop or UnregisterOwner on
     * the inbox.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the
     * messages.
     * </pre>
     */
    public antiphon.history.v1.LeaseResponse lease(antiphon.history.v1.LeaseRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getLeaseMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes leased messages for good, all or none. A lease is lost from the
     * instant it expires on.
     * Errors: LEASE_LOST (all lost ones are listed). Idempotent by request_id.
     * Cost: that of the leases.
     * </pre>
     */
    public antiphon.history.v1.AcknowledgeResponse acknowledge(antiphon.history.v1.AcknowledgeRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getAcknowledgeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives leased messages back at once, all or none.
     * Errors: LEASE_LOST. Idempotent by request_id. Cost: that of the leases.
     * </pre>
     */
    public antiphon.history.v1.RejectResponse reject(antiphon.history.v1.RejectRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRejectMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists dead letters, oldest first. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public antiphon.history.v1.ListDeadLettersResponse listDeadLetters(antiphon.history.v1.ListDeadLettersRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListDeadLettersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes a dead letter and delivers its message to an owner, with a fresh count
     * of deliveries.
     * Errors: MESSAGE_NOT_FOUND, OWNER_NOT_FOUND (the recipient),
     * QUOTA_EXCEEDED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.RedriveDeadLetterResponse redriveDeadLetter(antiphon.history.v1.RedriveDeadLetterRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRedriveDeadLetterMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams the deliveries to an inbox after a sequence number, in order, each
     * at least once, those consumed meanwhile left out; then stays open. Resume
     * with the last sequence seen. It takes nothing: Lease or Pop does. An
     * unknown owner's stream waits for it to register.
     * Errors: none of its own. Cost: that of the deliveries.
     * </pre>
     */
    public java.util.Iterator<antiphon.history.v1.WatchInboxResponse> watchInbox(
        antiphon.history.v1.WatchInboxRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchInboxMethod(), getCallOptions(), request);
    }
  }

  /**
   * <pre>
   * Carries routed messages between owners (ADR-0006 D5). An exchange is a named
   * space of owners; it needs no making. Each owner has an outbox and an inbox.
   * Send puts a message into its sender's outbox; Collect takes the outbox in
   * order and delivers; Receive, Pop and Lease read inboxes.
   * Nothing vanishes: what cannot be delivered becomes a dead letter with its
   * reason. Everything is on stable storage when it is answered, one transaction
   * a step: a crash between any two steps loses and repeats nothing that was
   * acknowledged.
   * What moves many messages (Collect, CollectAll, Send where it delivers,
   * UnregisterOwner, and Lease and Pop after many leases have ended) takes several
   * steps, with the writes of others between them. The first is short, some 1,000
   * messages or 90 inboxes, and nearly always the only one; what needs more takes
   * turns with others of its kind: a step moves some 16,000 messages at most, fewer
   * the more inboxes they go to, and a broadcast in one step to all. Each message meets the exchange as it is at its step. Cut short
   * by a crash or a deadline, it has moved the first of its messages; sent again
   * with its request_id it goes on where it stopped and answers as if it had been
   * done at once.
   * `request_id` makes a step safe to send again, as in HistoryService: the same
   * request under the same id returns the first response with `replayed` set, and
   * another request is REQUEST_ID_REUSED.
   * `exchange_id` is any text of 1 to 512 bytes; owner ids are UUIDs in canonical
   * lower-case text.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED, CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED,
   * STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and INTERNAL_ERROR. With tokens
   * configured exchanges are the caller's tenant's own.
   * </pre>
   */
  public static final class ExchangeServiceFutureStub extends io.grpc.stub.AbstractFutureStub<ExchangeServiceFutureStub> {
    private ExchangeServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ExchangeServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ExchangeServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Registers an owner.
     * Errors: OWNER_EXISTS, QUOTA_EXCEEDED (owners). Idempotent by request_id.
     * Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.RegisterOwnerResponse> registerOwner(
        antiphon.history.v1.RegisterOwnerRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRegisterOwnerMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Unregisters an owner. Its queued mail, inbox and outbox, becomes dead
     * letters, or comes back in the response, as asked; leases on it are lost. An
     * unknown owner is no error. An owner that registers again starts empty and
     * its inbox's sequence goes on. Where the mail takes several steps, the owner
     * is registered until the last, and goes on receiving: cut short, the call has
     * made the first of its mail dead letters and the owner is still there. The
     * same call again, with its request_id or without, finishes it.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the mail.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.UnregisterOwnerResponse> unregisterOwner(
        antiphon.history.v1.UnregisterOwnerRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUnregisterOwnerMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists owners in registration order. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ListOwnersResponse> listOwners(
        antiphon.history.v1.ListOwnersRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListOwnersMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Queues a message in its sender's outbox; where the exchange delivers at
     * send, collects the outbox at once. The recipient need not be registered.
     * Without a recipient member id the message can only be a broadcast or a dead
     * letter, which shows when it is collected.
     * Errors: OWNER_NOT_FOUND (the sender), FIELD_INVALID, QUOTA_EXCEEDED.
     * Idempotent by request_id. Cost: constant, plus delivery.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.SendResponse> send(
        antiphon.history.v1.SendRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSendMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Takes what is in an owner's outbox, in order, and delivers: a broadcast to
     * every other registered owner, under one message id; a direct message to its member.
     * All else becomes a dead letter. It stops before a broadcast whose copies
     * would take the exchange beyond its limits: that one and what follows stay
     * queued.
     * Errors: OWNER_NOT_FOUND. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.CollectResponse> collect(
        antiphon.history.v1.CollectRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCollectMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Collects for every owner registered now, in registration order, in steps
     * that may each be about many owners; owners gone by their turn are skipped.
     * Errors: none of its own. Idempotent by request_id. Cost: that of what is
     * delivered.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.CollectAllResponse> collectAll(
        antiphon.history.v1.CollectAllRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCollectAllMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads an inbox without taking anything, in delivery order, leased mail
     * included; narrowed to one sender if asked. An unknown owner has an empty
     * one.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ReceiveResponse> receive(
        antiphon.history.v1.ReceiveRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getReceiveMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Removes and returns the oldest message of one sender that is not leased.
     * None, or an unknown owner, is no error.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.PopResponse> pop(
        antiphon.history.v1.PopRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPopMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Hands out the oldest messages that are not leased, and hides them from
     * Pop and other leases for a time. Acknowledge removes them; Reject, or the
     * time's end, brings them back at their place, delivered once more; beyond
     * the exchange's limit of deliveries they become dead letters instead. A lease
     * that ends by itself is noticed by the next Lease, Pop or UnregisterOwner on
     * the inbox.
     * Errors: REQUEST_ID_REUSED. Idempotent by request_id. Cost: that of the
     * messages.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.LeaseResponse> lease(
        antiphon.history.v1.LeaseRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getLeaseMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Removes leased messages for good, all or none. A lease is lost from the
     * instant it expires on.
     * Errors: LEASE_LOST (all lost ones are listed). Idempotent by request_id.
     * Cost: that of the leases.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.AcknowledgeResponse> acknowledge(
        antiphon.history.v1.AcknowledgeRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getAcknowledgeMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives leased messages back at once, all or none.
     * Errors: LEASE_LOST. Idempotent by request_id. Cost: that of the leases.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.RejectResponse> reject(
        antiphon.history.v1.RejectRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRejectMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists dead letters, oldest first. Pages by AIP-158.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ListDeadLettersResponse> listDeadLetters(
        antiphon.history.v1.ListDeadLettersRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListDeadLettersMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Takes a dead letter and delivers its message to an owner, with a fresh count
     * of deliveries.
     * Errors: MESSAGE_NOT_FOUND, OWNER_NOT_FOUND (the recipient),
     * QUOTA_EXCEEDED. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.RedriveDeadLetterResponse> redriveDeadLetter(
        antiphon.history.v1.RedriveDeadLetterRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRedriveDeadLetterMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_REGISTER_OWNER = 0;
  private static final int METHODID_UNREGISTER_OWNER = 1;
  private static final int METHODID_LIST_OWNERS = 2;
  private static final int METHODID_SEND = 3;
  private static final int METHODID_COLLECT = 4;
  private static final int METHODID_COLLECT_ALL = 5;
  private static final int METHODID_RECEIVE = 6;
  private static final int METHODID_POP = 7;
  private static final int METHODID_LEASE = 8;
  private static final int METHODID_ACKNOWLEDGE = 9;
  private static final int METHODID_REJECT = 10;
  private static final int METHODID_LIST_DEAD_LETTERS = 11;
  private static final int METHODID_REDRIVE_DEAD_LETTER = 12;
  private static final int METHODID_WATCH_INBOX = 13;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final ExchangeServiceImplBase serviceImpl;
    private final int methodId;

    MethodHandlers(ExchangeServiceImplBase serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_REGISTER_OWNER:
          serviceImpl.registerOwner((antiphon.history.v1.RegisterOwnerRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.RegisterOwnerResponse>) responseObserver);
          break;
        case METHODID_UNREGISTER_OWNER:
          serviceImpl.unregisterOwner((antiphon.history.v1.UnregisterOwnerRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.UnregisterOwnerResponse>) responseObserver);
          break;
        case METHODID_LIST_OWNERS:
          serviceImpl.listOwners((antiphon.history.v1.ListOwnersRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ListOwnersResponse>) responseObserver);
          break;
        case METHODID_SEND:
          serviceImpl.send((antiphon.history.v1.SendRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.SendResponse>) responseObserver);
          break;
        case METHODID_COLLECT:
          serviceImpl.collect((antiphon.history.v1.CollectRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.CollectResponse>) responseObserver);
          break;
        case METHODID_COLLECT_ALL:
          serviceImpl.collectAll((antiphon.history.v1.CollectAllRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.CollectAllResponse>) responseObserver);
          break;
        case METHODID_RECEIVE:
          serviceImpl.receive((antiphon.history.v1.ReceiveRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ReceiveResponse>) responseObserver);
          break;
        case METHODID_POP:
          serviceImpl.pop((antiphon.history.v1.PopRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.PopResponse>) responseObserver);
          break;
        case METHODID_LEASE:
          serviceImpl.lease((antiphon.history.v1.LeaseRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.LeaseResponse>) responseObserver);
          break;
        case METHODID_ACKNOWLEDGE:
          serviceImpl.acknowledge((antiphon.history.v1.AcknowledgeRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.AcknowledgeResponse>) responseObserver);
          break;
        case METHODID_REJECT:
          serviceImpl.reject((antiphon.history.v1.RejectRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.RejectResponse>) responseObserver);
          break;
        case METHODID_LIST_DEAD_LETTERS:
          serviceImpl.listDeadLetters((antiphon.history.v1.ListDeadLettersRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ListDeadLettersResponse>) responseObserver);
          break;
        case METHODID_REDRIVE_DEAD_LETTER:
          serviceImpl.redriveDeadLetter((antiphon.history.v1.RedriveDeadLetterRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.RedriveDeadLetterResponse>) responseObserver);
          break;
        case METHODID_WATCH_INBOX:
          serviceImpl.watchInbox((antiphon.history.v1.WatchInboxRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.WatchInboxResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  private static abstract class ExchangeServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ExchangeServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return antiphon.history.v1.ExchangeServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ExchangeService");
    }
  }

  private static final class ExchangeServiceFileDescriptorSupplier
      extends ExchangeServiceBaseDescriptorSupplier {
    ExchangeServiceFileDescriptorSupplier() {}
  }

  private static final class ExchangeServiceMethodDescriptorSupplier
      extends ExchangeServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final String methodName;

    ExchangeServiceMethodDescriptorSupplier(String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (ExchangeServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ExchangeServiceFileDescriptorSupplier())
              .addMethod(getRegisterOwnerMethod())
              .addMethod(getUnregisterOwnerMethod())
              .addMethod(getListOwnersMethod())
              .addMethod(getSendMethod())
              .addMethod(getCollectMethod())
              .addMethod(getCollectAllMethod())
              .addMethod(getReceiveMethod())
              .addMethod(getPopMethod())
              .addMethod(getLeaseMethod())
              .addMethod(getAcknowledgeMethod())
              .addMethod(getRejectMethod())
              .addMethod(getListDeadLettersMethod())
              .addMethod(getRedriveDeadLetterMethod())
              .addMethod(getWatchInboxMethod())
              .build();
        }
      }
    }
    return result;
  }
}

package antiphon.history.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Keeps conversations (ADR-0006 as a service).
 * Writes. A write answered OK is on stable storage; it is atomic and makes
 * exactly one new revision of its branch. `expected_revision` guards it:
 * REVISION_CONFLICT unless the branch is at that revision. `request_id` (a
 * UUID in canonical lower-case text; optional, and set by every SDK) makes it
 * safe to send again: the same request under the same id returns the first
 * response with `replayed` set, for at least 24 hours and across restarts;
 * another request under the id is REQUEST_ID_REUSED. Requests are compared by
 * their bytes as received. Checked in this order: the request's fields, replay,
 * deletion, revision, the rules of the write.
 * Reads carry the revision at which they are true and take `at_revision`
 * (1 or more; REVISION_IN_FUTURE beyond the branch's own, REVISION_EXPIRED
 * before its oldest): the order, contents, system record and view as they stood
 * then. What a branch holds at a revision never changes.
 * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
 * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB), CREDENTIALS_MISSING,
 * ROLE_NOT_ALLOWED, OVERLOADED, STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and
 * INTERNAL_ERROR; every RPC on a branch also BRANCH_NOT_FOUND and
 * BRANCH_DELETED; every guarded write REVISION_CONFLICT and REQUEST_ID_REUSED;
 * every read REVISION_IN_FUTURE and REVISION_EXPIRED.
 * With tokens configured a caller sees its own tenant only: branches, external
 * keys, request ids and page tokens of another one do not exist for it.
 * </pre>
 */
@javax.annotation.Generated(
    value = "by gRPC proto compiler",
    comments = "Source: antiphon/history/v1/history_service.proto")
@io.grpc.stub.annotations.GrpcGenerated
public final class HistoryServiceGrpc {

  private HistoryServiceGrpc() {}

  public static final String SERVICE_NAME = "antiphon.history.v1.HistoryService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.CreateBranchRequest,
      antiphon.history.v1.CreateBranchResponse> getCreateBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateBranch",
      requestType = antiphon.history.v1.CreateBranchRequest.class,
      responseType = antiphon.history.v1.CreateBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.CreateBranchRequest,
      antiphon.history.v1.CreateBranchResponse> getCreateBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.CreateBranchRequest, antiphon.history.v1.CreateBranchResponse> getCreateBranchMethod;
    if ((getCreateBranchMethod = HistoryServiceGrpc.getCreateBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getCreateBranchMethod = HistoryServiceGrpc.getCreateBranchMethod) == null) {
          HistoryServiceGrpc.getCreateBranchMethod = getCreateBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.CreateBranchRequest, antiphon.history.v1.CreateBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CreateBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CreateBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("CreateBranch"))
              .build();
        }
      }
    }
    return getCreateBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.GetBranchRequest,
      antiphon.history.v1.GetBranchResponse> getGetBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetBranch",
      requestType = antiphon.history.v1.GetBranchRequest.class,
      responseType = antiphon.history.v1.GetBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.GetBranchRequest,
      antiphon.history.v1.GetBranchResponse> getGetBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.GetBranchRequest, antiphon.history.v1.GetBranchResponse> getGetBranchMethod;
    if ((getGetBranchMethod = HistoryServiceGrpc.getGetBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getGetBranchMethod = HistoryServiceGrpc.getGetBranchMethod) == null) {
          HistoryServiceGrpc.getGetBranchMethod = getGetBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.GetBranchRequest, antiphon.history.v1.GetBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.GetBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.GetBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("GetBranch"))
              .build();
        }
      }
    }
    return getGetBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ListBranchesRequest,
      antiphon.history.v1.ListBranchesResponse> getListBranchesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListBranches",
      requestType = antiphon.history.v1.ListBranchesRequest.class,
      responseType = antiphon.history.v1.ListBranchesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ListBranchesRequest,
      antiphon.history.v1.ListBranchesResponse> getListBranchesMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ListBranchesRequest, antiphon.history.v1.ListBranchesResponse> getListBranchesMethod;
    if ((getListBranchesMethod = HistoryServiceGrpc.getListBranchesMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getListBranchesMethod = HistoryServiceGrpc.getListBranchesMethod) == null) {
          HistoryServiceGrpc.getListBranchesMethod = getListBranchesMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ListBranchesRequest, antiphon.history.v1.ListBranchesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListBranches"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListBranchesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListBranchesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ListBranches"))
              .build();
        }
      }
    }
    return getListBranchesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.UpdateBranchRequest,
      antiphon.history.v1.UpdateBranchResponse> getUpdateBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateBranch",
      requestType = antiphon.history.v1.UpdateBranchRequest.class,
      responseType = antiphon.history.v1.UpdateBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.UpdateBranchRequest,
      antiphon.history.v1.UpdateBranchResponse> getUpdateBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.UpdateBranchRequest, antiphon.history.v1.UpdateBranchResponse> getUpdateBranchMethod;
    if ((getUpdateBranchMethod = HistoryServiceGrpc.getUpdateBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getUpdateBranchMethod = HistoryServiceGrpc.getUpdateBranchMethod) == null) {
          HistoryServiceGrpc.getUpdateBranchMethod = getUpdateBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.UpdateBranchRequest, antiphon.history.v1.UpdateBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.UpdateBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.UpdateBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("UpdateBranch"))
              .build();
        }
      }
    }
    return getUpdateBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.DeleteBranchRequest,
      antiphon.history.v1.DeleteBranchResponse> getDeleteBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteBranch",
      requestType = antiphon.history.v1.DeleteBranchRequest.class,
      responseType = antiphon.history.v1.DeleteBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.DeleteBranchRequest,
      antiphon.history.v1.DeleteBranchResponse> getDeleteBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.DeleteBranchRequest, antiphon.history.v1.DeleteBranchResponse> getDeleteBranchMethod;
    if ((getDeleteBranchMethod = HistoryServiceGrpc.getDeleteBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getDeleteBranchMethod = HistoryServiceGrpc.getDeleteBranchMethod) == null) {
          HistoryServiceGrpc.getDeleteBranchMethod = getDeleteBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.DeleteBranchRequest, antiphon.history.v1.DeleteBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.DeleteBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.DeleteBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("DeleteBranch"))
              .build();
        }
      }
    }
    return getDeleteBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.TrimHistoryRequest,
      antiphon.history.v1.TrimHistoryResponse> getTrimHistoryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "TrimHistory",
      requestType = antiphon.history.v1.TrimHistoryRequest.class,
      responseType = antiphon.history.v1.TrimHistoryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.TrimHistoryRequest,
      antiphon.history.v1.TrimHistoryResponse> getTrimHistoryMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.TrimHistoryRequest, antiphon.history.v1.TrimHistoryResponse> getTrimHistoryMethod;
    if ((getTrimHistoryMethod = HistoryServiceGrpc.getTrimHistoryMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getTrimHistoryMethod = HistoryServiceGrpc.getTrimHistoryMethod) == null) {
          HistoryServiceGrpc.getTrimHistoryMethod = getTrimHistoryMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.TrimHistoryRequest, antiphon.history.v1.TrimHistoryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "TrimHistory"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.TrimHistoryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.TrimHistoryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("TrimHistory"))
              .build();
        }
      }
    }
    return getTrimHistoryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ForkBranchRequest,
      antiphon.history.v1.ForkBranchResponse> getForkBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ForkBranch",
      requestType = antiphon.history.v1.ForkBranchRequest.class,
      responseType = antiphon.history.v1.ForkBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ForkBranchRequest,
      antiphon.history.v1.ForkBranchResponse> getForkBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ForkBranchRequest, antiphon.history.v1.ForkBranchResponse> getForkBranchMethod;
    if ((getForkBranchMethod = HistoryServiceGrpc.getForkBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getForkBranchMethod = HistoryServiceGrpc.getForkBranchMethod) == null) {
          HistoryServiceGrpc.getForkBranchMethod = getForkBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ForkBranchRequest, antiphon.history.v1.ForkBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ForkBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ForkBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ForkBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ForkBranch"))
              .build();
        }
      }
    }
    return getForkBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.WatchBranchRequest,
      antiphon.history.v1.WatchBranchResponse> getWatchBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchBranch",
      requestType = antiphon.history.v1.WatchBranchRequest.class,
      responseType = antiphon.history.v1.WatchBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.WatchBranchRequest,
      antiphon.history.v1.WatchBranchResponse> getWatchBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.WatchBranchRequest, antiphon.history.v1.WatchBranchResponse> getWatchBranchMethod;
    if ((getWatchBranchMethod = HistoryServiceGrpc.getWatchBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getWatchBranchMethod = HistoryServiceGrpc.getWatchBranchMethod) == null) {
          HistoryServiceGrpc.getWatchBranchMethod = getWatchBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.WatchBranchRequest, antiphon.history.v1.WatchBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.WatchBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.WatchBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("WatchBranch"))
              .build();
        }
      }
    }
    return getWatchBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ExportBranchRequest,
      antiphon.history.v1.ExportBranchResponse> getExportBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ExportBranch",
      requestType = antiphon.history.v1.ExportBranchRequest.class,
      responseType = antiphon.history.v1.ExportBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ExportBranchRequest,
      antiphon.history.v1.ExportBranchResponse> getExportBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ExportBranchRequest, antiphon.history.v1.ExportBranchResponse> getExportBranchMethod;
    if ((getExportBranchMethod = HistoryServiceGrpc.getExportBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getExportBranchMethod = HistoryServiceGrpc.getExportBranchMethod) == null) {
          HistoryServiceGrpc.getExportBranchMethod = getExportBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ExportBranchRequest, antiphon.history.v1.ExportBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ExportBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ExportBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ExportBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ExportBranch"))
              .build();
        }
      }
    }
    return getExportBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ImportBranchRequest,
      antiphon.history.v1.ImportBranchResponse> getImportBranchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ImportBranch",
      requestType = antiphon.history.v1.ImportBranchRequest.class,
      responseType = antiphon.history.v1.ImportBranchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ImportBranchRequest,
      antiphon.history.v1.ImportBranchResponse> getImportBranchMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ImportBranchRequest, antiphon.history.v1.ImportBranchResponse> getImportBranchMethod;
    if ((getImportBranchMethod = HistoryServiceGrpc.getImportBranchMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getImportBranchMethod = HistoryServiceGrpc.getImportBranchMethod) == null) {
          HistoryServiceGrpc.getImportBranchMethod = getImportBranchMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ImportBranchRequest, antiphon.history.v1.ImportBranchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ImportBranch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ImportBranchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ImportBranchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ImportBranch"))
              .build();
        }
      }
    }
    return getImportBranchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.AddMessagesRequest,
      antiphon.history.v1.AddMessagesResponse> getAddMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AddMessages",
      requestType = antiphon.history.v1.AddMessagesRequest.class,
      responseType = antiphon.history.v1.AddMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.AddMessagesRequest,
      antiphon.history.v1.AddMessagesResponse> getAddMessagesMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.AddMessagesRequest, antiphon.history.v1.AddMessagesResponse> getAddMessagesMethod;
    if ((getAddMessagesMethod = HistoryServiceGrpc.getAddMessagesMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getAddMessagesMethod = HistoryServiceGrpc.getAddMessagesMethod) == null) {
          HistoryServiceGrpc.getAddMessagesMethod = getAddMessagesMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.AddMessagesRequest, antiphon.history.v1.AddMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AddMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.AddMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.AddMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("AddMessages"))
              .build();
        }
      }
    }
    return getAddMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.RespondToActionRequest,
      antiphon.history.v1.RespondToActionResponse> getRespondToActionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RespondToAction",
      requestType = antiphon.history.v1.RespondToActionRequest.class,
      responseType = antiphon.history.v1.RespondToActionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.RespondToActionRequest,
      antiphon.history.v1.RespondToActionResponse> getRespondToActionMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.RespondToActionRequest, antiphon.history.v1.RespondToActionResponse> getRespondToActionMethod;
    if ((getRespondToActionMethod = HistoryServiceGrpc.getRespondToActionMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getRespondToActionMethod = HistoryServiceGrpc.getRespondToActionMethod) == null) {
          HistoryServiceGrpc.getRespondToActionMethod = getRespondToActionMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.RespondToActionRequest, antiphon.history.v1.RespondToActionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RespondToAction"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RespondToActionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RespondToActionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("RespondToAction"))
              .build();
        }
      }
    }
    return getRespondToActionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.SetSystemRequest,
      antiphon.history.v1.SetSystemResponse> getSetSystemMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SetSystem",
      requestType = antiphon.history.v1.SetSystemRequest.class,
      responseType = antiphon.history.v1.SetSystemResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.SetSystemRequest,
      antiphon.history.v1.SetSystemResponse> getSetSystemMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.SetSystemRequest, antiphon.history.v1.SetSystemResponse> getSetSystemMethod;
    if ((getSetSystemMethod = HistoryServiceGrpc.getSetSystemMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getSetSystemMethod = HistoryServiceGrpc.getSetSystemMethod) == null) {
          HistoryServiceGrpc.getSetSystemMethod = getSetSystemMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.SetSystemRequest, antiphon.history.v1.SetSystemResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SetSystem"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.SetSystemRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.SetSystemResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("SetSystem"))
              .build();
        }
      }
    }
    return getSetSystemMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.RemoveMessagesRequest,
      antiphon.history.v1.RemoveMessagesResponse> getRemoveMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RemoveMessages",
      requestType = antiphon.history.v1.RemoveMessagesRequest.class,
      responseType = antiphon.history.v1.RemoveMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.RemoveMessagesRequest,
      antiphon.history.v1.RemoveMessagesResponse> getRemoveMessagesMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.RemoveMessagesRequest, antiphon.history.v1.RemoveMessagesResponse> getRemoveMessagesMethod;
    if ((getRemoveMessagesMethod = HistoryServiceGrpc.getRemoveMessagesMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getRemoveMessagesMethod = HistoryServiceGrpc.getRemoveMessagesMethod) == null) {
          HistoryServiceGrpc.getRemoveMessagesMethod = getRemoveMessagesMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.RemoveMessagesRequest, antiphon.history.v1.RemoveMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RemoveMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RemoveMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.RemoveMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("RemoveMessages"))
              .build();
        }
      }
    }
    return getRemoveMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.MoveMessageRequest,
      antiphon.history.v1.MoveMessageResponse> getMoveMessageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "MoveMessage",
      requestType = antiphon.history.v1.MoveMessageRequest.class,
      responseType = antiphon.history.v1.MoveMessageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.MoveMessageRequest,
      antiphon.history.v1.MoveMessageResponse> getMoveMessageMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.MoveMessageRequest, antiphon.history.v1.MoveMessageResponse> getMoveMessageMethod;
    if ((getMoveMessageMethod = HistoryServiceGrpc.getMoveMessageMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getMoveMessageMethod = HistoryServiceGrpc.getMoveMessageMethod) == null) {
          HistoryServiceGrpc.getMoveMessageMethod = getMoveMessageMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.MoveMessageRequest, antiphon.history.v1.MoveMessageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "MoveMessage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.MoveMessageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.MoveMessageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("MoveMessage"))
              .build();
        }
      }
    }
    return getMoveMessageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ClearMessagesRequest,
      antiphon.history.v1.ClearMessagesResponse> getClearMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ClearMessages",
      requestType = antiphon.history.v1.ClearMessagesRequest.class,
      responseType = antiphon.history.v1.ClearMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ClearMessagesRequest,
      antiphon.history.v1.ClearMessagesResponse> getClearMessagesMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ClearMessagesRequest, antiphon.history.v1.ClearMessagesResponse> getClearMessagesMethod;
    if ((getClearMessagesMethod = HistoryServiceGrpc.getClearMessagesMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getClearMessagesMethod = HistoryServiceGrpc.getClearMessagesMethod) == null) {
          HistoryServiceGrpc.getClearMessagesMethod = getClearMessagesMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ClearMessagesRequest, antiphon.history.v1.ClearMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ClearMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ClearMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ClearMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ClearMessages"))
              .build();
        }
      }
    }
    return getClearMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.GetMessagesRequest,
      antiphon.history.v1.GetMessagesResponse> getGetMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetMessages",
      requestType = antiphon.history.v1.GetMessagesRequest.class,
      responseType = antiphon.history.v1.GetMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.GetMessagesRequest,
      antiphon.history.v1.GetMessagesResponse> getGetMessagesMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.GetMessagesRequest, antiphon.history.v1.GetMessagesResponse> getGetMessagesMethod;
    if ((getGetMessagesMethod = HistoryServiceGrpc.getGetMessagesMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getGetMessagesMethod = HistoryServiceGrpc.getGetMessagesMethod) == null) {
          HistoryServiceGrpc.getGetMessagesMethod = getGetMessagesMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.GetMessagesRequest, antiphon.history.v1.GetMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.GetMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.GetMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("GetMessages"))
              .build();
        }
      }
    }
    return getGetMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ListMessagesRequest,
      antiphon.history.v1.ListMessagesResponse> getListMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListMessages",
      requestType = antiphon.history.v1.ListMessagesRequest.class,
      responseType = antiphon.history.v1.ListMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ListMessagesRequest,
      antiphon.history.v1.ListMessagesResponse> getListMessagesMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ListMessagesRequest, antiphon.history.v1.ListMessagesResponse> getListMessagesMethod;
    if ((getListMessagesMethod = HistoryServiceGrpc.getListMessagesMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getListMessagesMethod = HistoryServiceGrpc.getListMessagesMethod) == null) {
          HistoryServiceGrpc.getListMessagesMethod = getListMessagesMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ListMessagesRequest, antiphon.history.v1.ListMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ListMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ListMessages"))
              .build();
        }
      }
    }
    return getListMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.SelectViewRequest,
      antiphon.history.v1.SelectViewResponse> getSelectViewMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "SelectView",
      requestType = antiphon.history.v1.SelectViewRequest.class,
      responseType = antiphon.history.v1.SelectViewResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.SelectViewRequest,
      antiphon.history.v1.SelectViewResponse> getSelectViewMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.SelectViewRequest, antiphon.history.v1.SelectViewResponse> getSelectViewMethod;
    if ((getSelectViewMethod = HistoryServiceGrpc.getSelectViewMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getSelectViewMethod = HistoryServiceGrpc.getSelectViewMethod) == null) {
          HistoryServiceGrpc.getSelectViewMethod = getSelectViewMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.SelectViewRequest, antiphon.history.v1.SelectViewResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "SelectView"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.SelectViewRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.SelectViewResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("SelectView"))
              .build();
        }
      }
    }
    return getSelectViewMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ClearViewRequest,
      antiphon.history.v1.ClearViewResponse> getClearViewMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ClearView",
      requestType = antiphon.history.v1.ClearViewRequest.class,
      responseType = antiphon.history.v1.ClearViewResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ClearViewRequest,
      antiphon.history.v1.ClearViewResponse> getClearViewMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ClearViewRequest, antiphon.history.v1.ClearViewResponse> getClearViewMethod;
    if ((getClearViewMethod = HistoryServiceGrpc.getClearViewMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getClearViewMethod = HistoryServiceGrpc.getClearViewMethod) == null) {
          HistoryServiceGrpc.getClearViewMethod = getClearViewMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ClearViewRequest, antiphon.history.v1.ClearViewResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ClearView"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ClearViewRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ClearViewResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ClearView"))
              .build();
        }
      }
    }
    return getClearViewMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.ReadSnapshotRequest,
      antiphon.history.v1.ReadSnapshotResponse> getReadSnapshotMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ReadSnapshot",
      requestType = antiphon.history.v1.ReadSnapshotRequest.class,
      responseType = antiphon.history.v1.ReadSnapshotResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.ReadSnapshotRequest,
      antiphon.history.v1.ReadSnapshotResponse> getReadSnapshotMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.ReadSnapshotRequest, antiphon.history.v1.ReadSnapshotResponse> getReadSnapshotMethod;
    if ((getReadSnapshotMethod = HistoryServiceGrpc.getReadSnapshotMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getReadSnapshotMethod = HistoryServiceGrpc.getReadSnapshotMethod) == null) {
          HistoryServiceGrpc.getReadSnapshotMethod = getReadSnapshotMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.ReadSnapshotRequest, antiphon.history.v1.ReadSnapshotResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ReadSnapshot"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ReadSnapshotRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.ReadSnapshotResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("ReadSnapshot"))
              .build();
        }
      }
    }
    return getReadSnapshotMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.history.v1.CommitCompactionRequest,
      antiphon.history.v1.CommitCompactionResponse> getCommitCompactionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CommitCompaction",
      requestType = antiphon.history.v1.CommitCompactionRequest.class,
      responseType = antiphon.history.v1.CommitCompactionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.history.v1.CommitCompactionRequest,
      antiphon.history.v1.CommitCompactionResponse> getCommitCompactionMethod() {
    io.grpc.MethodDescriptor<antiphon.history.v1.CommitCompactionRequest, antiphon.history.v1.CommitCompactionResponse> getCommitCompactionMethod;
    if ((getCommitCompactionMethod = HistoryServiceGrpc.getCommitCompactionMethod) == null) {
      synchronized (HistoryServiceGrpc.class) {
        if ((getCommitCompactionMethod = HistoryServiceGrpc.getCommitCompactionMethod) == null) {
          HistoryServiceGrpc.getCommitCompactionMethod = getCommitCompactionMethod =
              io.grpc.MethodDescriptor.<antiphon.history.v1.CommitCompactionRequest, antiphon.history.v1.CommitCompactionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CommitCompaction"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CommitCompactionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.history.v1.CommitCompactionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new HistoryServiceMethodDescriptorSupplier("CommitCompaction"))
              .build();
        }
      }
    }
    return getCommitCompactionMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static HistoryServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<HistoryServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<HistoryServiceStub>() {
        @java.lang.Override
        public HistoryServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new HistoryServiceStub(channel, callOptions);
        }
      };
    return HistoryServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static HistoryServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<HistoryServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<HistoryServiceBlockingStub>() {
        @java.lang.Override
        public HistoryServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new HistoryServiceBlockingStub(channel, callOptions);
        }
      };
    return HistoryServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static HistoryServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<HistoryServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<HistoryServiceFutureStub>() {
        @java.lang.Override
        public HistoryServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new HistoryServiceFutureStub(channel, callOptions);
        }
      };
    return HistoryServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Keeps conversations (ADR-0006 as a service).
   * Writes. A write answered OK is on stable storage; it is atomic and makes
   * exactly one new revision of its branch. `expected_revision` guards it:
   * REVISION_CONFLICT unless the branch is at that revision. `request_id` (a
   * UUID in canonical lower-case text; optional, and set by every SDK) makes it
   * safe to send again: the same request under the same id returns the first
   * response with `replayed` set, for at least 24 hours and across restarts;
   * another request under the id is REQUEST_ID_REUSED. Requests are compared by
   * their bytes as received. Checked in this order: the request's fields, replay,
   * deletion, revision, the rules of the write.
   * Reads carry the revision at which they are true and take `at_revision`
   * (1 or more; REVISION_IN_FUTURE beyond the branch's own, REVISION_EXPIRED
   * before its oldest): the order, contents, system record and view as they stood
   * then. What a branch holds at a revision never changes.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB), CREDENTIALS_MISSING,
   * ROLE_NOT_ALLOWED, OVERLOADED, STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and
   * INTERNAL_ERROR; every RPC on a branch also BRANCH_NOT_FOUND and
   * BRANCH_DELETED; every guarded write REVISION_CONFLICT and REQUEST_ID_REUSED;
   * every read REVISION_IN_FUTURE and REVISION_EXPIRED.
   * With tokens configured a caller sees its own tenant only: branches, external
   * keys, request ids and page tokens of another one do not exist for it.
   * </pre>
   */
  public static abstract class HistoryServiceImplBase implements io.grpc.BindableService {

    /**
     * <pre>
     * Makes an empty branch at revision 1.
     * Errors: BRANCH_EXISTS (the id or the external key is taken), BRANCH_DELETED
     * (the id was a deleted branch's, or the parent was deleted),
     * BRANCH_NOT_FOUND (the parent), RESERVED_KEY, REQUEST_ID_REUSED.
     * Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void createBranch(antiphon.history.v1.CreateBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CreateBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads what a branch is. Cost: constant at the current revision; at a past
     * one, in step with the branch's length.
     * </pre>
     */
    public void getBranch(antiphon.history.v1.GetBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.GetBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists living branches, oldest first; with an external key prefix, in the
     * order of the keys' UTF-8 bytes. Pages by AIP-158; a branch created while a
     * caller pages may appear, one that stays is listed exactly once.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void listBranches(antiphon.history.v1.ListBranchesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListBranchesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListBranchesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Replaces a branch's metadata.
     * Errors: RESERVED_KEY. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void updateBranch(antiphon.history.v1.UpdateBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.UpdateBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a branch for good. Its id stays taken (BRANCH_DELETED for late
     * writers, never a resurrection); its external key is free again. Its bytes
     * that no other branch shares are erased at once with `purge`, else after the
     * retention time. Forks of it stay whole. A deleted branch can be purged by a
     * second call with `purge`, which makes no further revision.
     * Errors: those of every guarded write. Idempotent by request_id; without
     * one a second call without `purge` is BRANCH_DELETED. Cost: constant; with
     * `purge`, that of the branch.
     * </pre>
     */
    public void deleteBranch(antiphon.history.v1.DeleteBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.DeleteBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Drops what only revisions before `before_revision` show: replaced versions,
     * removed messages, ended views, older change records. Reads and watches from
     * before it are REVISION_EXPIRED from then on. Every revision from it on
     * stays readable, byte for byte. Makes no revision.
     * Errors: REVISION_IN_FUTURE. Safe to repeat. Cost: that of what is dropped.
     * </pre>
     */
    public void trimHistory(antiphon.history.v1.TrimHistoryRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.TrimHistoryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getTrimHistoryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a new branch with what the source holds at a revision, system record,
     * view and metadata included. Neither side ever sees the other's later
     * writes; deleting or purging the source leaves the fork whole. A call/result
     * pair of which only one side is taken loses its link in the copy.
     * Errors: MESSAGE_NOT_FOUND (up_to_message_id), BRANCH_EXISTS, RESERVED_KEY.
     * Idempotent by request_id. Cost: with FORK_IDS_KEEP the order is copied and
     * no message bytes but those of cut pairs; with FORK_IDS_NEW every message is.
     * Either is one commit: other writes wait in step with the number of messages,
     * and with NEW of their bytes (figures: `docs/operations.md`).
     * </pre>
     */
    public void forkBranch(antiphon.history.v1.ForkBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ForkBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getForkBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams every committed change of a branch after a revision, in order, each
     * at least once; then stays open and sends changes as they are committed, by
     * whichever replica. Resume with the last revision seen. A slow reader falls
     * behind and loses nothing; it costs writers nothing. Ends with BRANCH_DELETED
     * after the change that deleted the branch. Once that branch's bytes are erased
     * the change is the only one left: whoever resumes after an earlier revision
     * gets it at once, and none of those between.
     * Errors: REVISION_EXPIRED, REVISION_IN_FUTURE. Cost: that of the changes.
     * </pre>
     */
    public void watchBranch(antiphon.history.v1.WatchBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.WatchBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams a branch as a self-describing file: the bytes of the chunks, one
     * after another, are UTF-8 text, a JSON record on each line; lines end in LF
     * and in nothing else. The last line is a footer with counts and a hash: a
     * file without it is incomplete. `docs/branch-file.md` has the format.
     * Errors: those of every read. Cost: that of the branch at the revision.
     * </pre>
     */
    public void exportBranch(antiphon.history.v1.ExportBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ExportBranchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getExportBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Makes a branch from such a file, of this or any earlier format version: all
     * or nothing. Takes the file's bytes in chunks cut anywhere. Message ids,
     * times, links, view and metadata come back; the incarnation is new.
     * Errors: FIELD_INVALID and SIZE_LIMIT_EXCEEDED (with the line's number in
     * `line`), RESERVED_KEY, BRANCH_EXISTS, BRANCH_DELETED, REQUEST_ID_REUSED.
     * Idempotent by request_id. Cost: that of the file, most of it while the file
     * is read; then it is stored in one commit, and other writes wait in step with
     * the number of messages and their bytes (figures: `docs/operations.md`).
     * </pre>
     */
    public io.grpc.stub.StreamObserver<antiphon.history.v1.ImportBranchRequest> importBranch(
        io.grpc.stub.StreamObserver<antiphon.history.v1.ImportBranchResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getImportBranchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Adds or replaces messages, all or none, keeping their order. An id already
     * in the branch is replaced at its index: its content kind must stay, its
     * action links stay, its created_at stays when none is given. Any other
     * message is appended; while a view is selected it enters the view's end. A
     * SystemContent message takes index 0 and the place of the former system
     * record. A response with an action_request_id is linked to its request both
     * ways in the same revision.
     * Errors: FIELD_INVALID (an id twice, two systems, no message, a final
     * response made interim, a replacement that names another request),
     * SIZE_LIMIT_EXCEEDED (over 1,000 messages, a message over 3 MiB),
     * CONTENT_KIND_FIXED, ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED.
     * Idempotent by request_id. Cost: that of the messages, whatever the
     * branch's length; a replacement also counts the messages before it.
     * </pre>
     */
    public void addMessages(antiphon.history.v1.AddMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.AddMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getAddMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Appends the response to an action request: copies the request's function,
     * arguments and provider call id, and links the two both ways in one
     * revision. An interim response carries the link but does not answer.
     * Errors: ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED, FIELD_INVALID (the
     * message id is taken). Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void respondToAction(antiphon.history.v1.RespondToActionRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RespondToActionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRespondToActionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Sets the branch's one system record at index 0; the former one is gone in
     * the same revision. With the id of the current record, a new version of it.
     * Errors: CONTENT_KIND_FIXED (the id is another message's). Idempotent by
     * request_id. Cost: constant.
     * </pre>
     */
    public void setSystem(antiphon.history.v1.SetSystemRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.SetSystemResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSetSystemMethod(), responseObserver);
    }

    /**
     * <pre>
     * Removes messages from the branch and its view, all or none, and clears the
     * action links that pointed to them.
     * Errors: MESSAGE_NOT_FOUND (all of them are listed, nothing is removed),
     * SIZE_LIMIT_EXCEEDED (over 1,000 ids), SYSTEM_RECORD_FIXED. Idempotent by
     * request_id. Cost: that of the messages.
     * </pre>
     */
    public void removeMessages(antiphon.history.v1.RemoveMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RemoveMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRemoveMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Moves one message to another index of the full order. A selected view is
     * not reordered.
     * Errors: MESSAGE_NOT_FOUND, FIELD_INVALID (index out of range),
     * SYSTEM_RECORD_FIXED. Idempotent by request_id. Cost: finding the index
     * scans an index; what is written is constant on the whole.
     * </pre>
     */
    public void moveMessage(antiphon.history.v1.MoveMessageRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.MoveMessageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getMoveMessageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Removes every message but the system record, which then stands alone at
     * index 0. A selected view stays selected.
     * Errors: those of every guarded write. Idempotent by request_id. Cost: that
     * of the messages removed.
     * </pre>
     */
    public void clearMessages(antiphon.history.v1.ClearMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ClearMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getClearMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads messages by id, in the order asked.
     * Errors: MESSAGE_NOT_FOUND (all missing ids), SIZE_LIMIT_EXCEEDED (over
     * 1,000 ids, or a reply over 3.5 MiB; use ListMessages or ReadSnapshot).
     * Cost: that of the messages.
     * </pre>
     */
    public void getMessages(antiphon.history.v1.GetMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.GetMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists a branch's messages in the full order, or against it, filtered by
     * kind. The last assistant response is one page of size 1, descending. Pages
     * by AIP-158: a page may hold fewer messages than asked (it also ends at
     * 3 MiB), the list ends with an empty token. The token pins the revision of
     * the first page, so that pages never overlap or skip.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page, whatever the branch's
     * length; at a past revision also a step for each version that has ended.
     * </pre>
     */
    public void listMessages(antiphon.history.v1.ListMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Selects an ordered subset of the branch as its view. Nothing is deleted.
     * Empty is a view. While it is selected, newly added messages enter it at
     * its end; removed ones leave it; a first system record heads it; a replaced
     * system record heads it if one was in it.
     * Errors: PROGRESSION_INVALID (unknown and repeated ids, all listed).
     * Idempotent by request_id. Cost: that of the view.
     * </pre>
     */
    public void selectView(antiphon.history.v1.SelectViewRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.SelectViewResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSelectViewMethod(), responseObserver);
    }

    /**
     * <pre>
     * Returns to the full order.
     * Errors: those of every guarded write. Idempotent by request_id. Cost:
     * constant.
     * </pre>
     */
    public void clearView(antiphon.history.v1.ClearViewRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ClearViewResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getClearViewMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams a selection of the branch at one revision: one header, the order
     * in parts, the messages in batches, one footer. A stream without its footer
     * is incomplete. Consistent because it reads at one pinned revision; no
     * transaction stays open between frames. A frame is at most 1 MiB or one
     * message; frames are joined where the caller takes them joined.
     * Errors: PROGRESSION_INVALID. Cost: that of the selection.
     * </pre>
     */
    public void readSnapshot(antiphon.history.v1.ReadSnapshotRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ReadSnapshotResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReadSnapshotMethod(), responseObserver);
    }

    /**
     * <pre>
     * Stores a summary of a stretch of the branch and the view that puts it in
     * the stretch's place, in one revision. Nothing is removed from the branch:
     * the messages summarized stay readable, ClearView returns to them, and
     * past revisions read as they were. Where the view holds a summary already,
     * that record is replaced by this one under its id: a second compaction
     * updates the summary and does not nest one. An empty summary is refused, so
     * it changes nothing.
     * Errors: MESSAGE_NOT_FOUND (ids listed), PROGRESSION_INVALID,
     * CONTENT_KIND_FIXED (the id is another message's), REVISION_IN_FUTURE and
     * REVISION_EXPIRED (planned_revision), REVISION_CONFLICT also when the view's
     * summary was written after planned_revision: another compaction was quicker,
     * and what it summarized would be lost. Idempotent by request_id. Cost: in
     * step with the view and with the changes since planned_revision.
     * </pre>
     */
    public void commitCompaction(antiphon.history.v1.CommitCompactionRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CommitCompactionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCommitCompactionMethod(), responseObserver);
    }

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
          .addMethod(
            getCreateBranchMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.CreateBranchRequest,
                antiphon.history.v1.CreateBranchResponse>(
                  this, METHODID_CREATE_BRANCH)))
          .addMethod(
            getGetBranchMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.GetBranchRequest,
                antiphon.history.v1.GetBranchResponse>(
                  this, METHODID_GET_BRANCH)))
          .addMethod(
            getListBranchesMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ListBranchesRequest,
                antiphon.history.v1.ListBranchesResponse>(
                  this, METHODID_LIST_BRANCHES)))
          .addMethod(
            getUpdateBranchMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.UpdateBranchRequest,
                antiphon.history.v1.UpdateBranchResponse>(
                  this, METHODID_UPDATE_BRANCH)))
          .addMethod(
            getDeleteBranchMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.DeleteBranchRequest,
                antiphon.history.v1.DeleteBranchResponse>(
                  this, METHODID_DELETE_BRANCH)))
          .addMethod(
            getTrimHistoryMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.TrimHistoryRequest,
                antiphon.history.v1.TrimHistoryResponse>(
                  this, METHODID_TRIM_HISTORY)))
          .addMethod(
            getForkBranchMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ForkBranchRequest,
                antiphon.history.v1.ForkBranchResponse>(
                  this, METHODID_FORK_BRANCH)))
          .addMethod(
            getWatchBranchMethod(),
            io.grpc.stub.ServerCalls.asyncServerStreamingCall(
              new MethodHandlers<
                antiphon.history.v1.WatchBranchRequest,
                antiphon.history.v1.WatchBranchResponse>(
                  this, METHODID_WATCH_BRANCH)))
          .addMethod(
            getExportBranchMethod(),
            io.grpc.stub.ServerCalls.asyncServerStreamingCall(
              new MethodHandlers<
                antiphon.history.v1.ExportBranchRequest,
                antiphon.history.v1.ExportBranchResponse>(
                  this, METHODID_EXPORT_BRANCH)))
          .addMethod(
            getImportBranchMethod(),
            io.grpc.stub.ServerCalls.asyncClientStreamingCall(
              new MethodHandlers<
                antiphon.history.v1.ImportBranchRequest,
                antiphon.history.v1.ImportBranchResponse>(
                  this, METHODID_IMPORT_BRANCH)))
          .addMethod(
            getAddMessagesMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.AddMessagesRequest,
                antiphon.history.v1.AddMessagesResponse>(
                  this, METHODID_ADD_MESSAGES)))
          .addMethod(
            getRespondToActionMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.RespondToActionRequest,
                antiphon.history.v1.RespondToActionResponse>(
                  this, METHODID_RESPOND_TO_ACTION)))
          .addMethod(
            getSetSystemMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.SetSystemRequest,
                antiphon.history.v1.SetSystemResponse>(
                  this, METHODID_SET_SYSTEM)))
          .addMethod(
            getRemoveMessagesMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.RemoveMessagesRequest,
                antiphon.history.v1.RemoveMessagesResponse>(
                  this, METHODID_REMOVE_MESSAGES)))
          .addMethod(
            getMoveMessageMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.MoveMessageRequest,
                antiphon.history.v1.MoveMessageResponse>(
                  this, METHODID_MOVE_MESSAGE)))
          .addMethod(
            getClearMessagesMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ClearMessagesRequest,
                antiphon.history.v1.ClearMessagesResponse>(
                  this, METHODID_CLEAR_MESSAGES)))
          .addMethod(
            getGetMessagesMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.GetMessagesRequest,
                antiphon.history.v1.GetMessagesResponse>(
                  this, METHODID_GET_MESSAGES)))
          .addMethod(
            getListMessagesMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ListMessagesRequest,
                antiphon.history.v1.ListMessagesResponse>(
                  this, METHODID_LIST_MESSAGES)))
          .addMethod(
            getSelectViewMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.SelectViewRequest,
                antiphon.history.v1.SelectViewResponse>(
                  this, METHODID_SELECT_VIEW)))
          .addMethod(
            getClearViewMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.ClearViewRequest,
                antiphon.history.v1.ClearViewResponse>(
                  this, METHODID_CLEAR_VIEW)))
          .addMethod(
            getReadSnapshotMethod(),
            io.grpc.stub.ServerCalls.asyncServerStreamingCall(
              new MethodHandlers<
                antiphon.history.v1.ReadSnapshotRequest,
                antiphon.history.v1.ReadSnapshotResponse>(
                  this, METHODID_READ_SNAPSHOT)))
          .addMethod(
            getCommitCompactionMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.history.v1.CommitCompactionRequest,
                antiphon.history.v1.CommitCompactionResponse>(
                  this, METHODID_COMMIT_COMPACTION)))
          .build();
    }
  }

  /**
   * <pre>
   * Keeps conversations (ADR-0006 as a service).
   * Writes. A write answered OK is on stable storage; it is atomic and makes
   * exactly one new revision of its branch. `expected_revision` guards it:
   * REVISION_CONFLICT unless the branch is at that revision. `request_id` (a
   * UUID in canonical lower-case text; optional, and set by every SDK) makes it
   * safe to send again: the same request under the same id returns the first
   * response with `replayed` set, for at least 24 hours and across restarts;
   * another request under the id is REQUEST_ID_REUSED. Requests are compared by
   * their bytes as received. Checked in this order: the request's fields, replay,
   * deletion, revision, the rules of the write.
   * Reads carry the revision at which they are true and take `at_revision`
   * (1 or more; REVISION_IN_FUTURE beyond the branch's own, REVISION_EXPIRED
   * before its oldest): the order, contents, system record and view as they stood
   * then. What a branch holds at a revision never changes.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB), CREDENTIALS_MISSING,
   * ROLE_NOT_ALLOWED, OVERLOADED, STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and
   * INTERNAL_ERROR; every RPC on a branch also BRANCH_NOT_FOUND and
   * BRANCH_DELETED; every guarded write REVISION_CONFLICT and REQUEST_ID_REUSED;
   * every read REVISION_IN_FUTURE and REVISION_EXPIRED.
   * With tokens configured a caller sees its own tenant only: branches, external
   * keys, request ids and page tokens of another one do not exist for it.
   * </pre>
   */
  public static final class HistoryServiceStub extends io.grpc.stub.AbstractAsyncStub<HistoryServiceStub> {
    private HistoryServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected HistoryServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new HistoryServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes an empty branch at revision 1.
     * Errors: BRANCH_EXISTS (the id or the external key is taken), BRANCH_DELETED
     * (the id was a deleted branch's, or the parent was deleted),
     * BRANCH_NOT_FOUND (the parent), RESERVED_KEY, REQUEST_ID_REUSED.
     * Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void createBranch(antiphon.history.v1.CreateBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CreateBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads what a branch is. Cost: constant at the current revision; at a past
     * one, in step with the branch's length.
     * </pre>
     */
    public void getBranch(antiphon.history.v1.GetBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.GetBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists living branches, oldest first; with an external key prefix, in the
     * order of the keys' UTF-8 bytes. Pages by AIP-158; a branch created while a
     * caller pages may appear, one that stays is listed exactly once.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public void listBranches(antiphon.history.v1.ListBranchesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListBranchesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListBranchesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Replaces a branch's metadata.
     * Errors: RESERVED_KEY. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void updateBranch(antiphon.history.v1.UpdateBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.UpdateBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a branch for good. Its id stays taken (BRANCH_DELETED for late
     * writers, never a resurrection); its external key is free again. Its bytes
     * that no other branch shares are erased at once with `purge`, else after the
     * retention time. Forks of it stay whole. A deleted branch can be purged by a
     * second call with `purge`, which makes no further revision.
     * Errors: those of every guarded write. Idempotent by request_id; without
     * one a second call without `purge` is BRANCH_DELETED. Cost: constant; with
     * `purge`, that of the branch.
     * </pre>
     */
    public void deleteBranch(antiphon.history.v1.DeleteBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.DeleteBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Drops what only revisions before `before_revision` show: replaced versions,
     * removed messages, ended views, older change records. Reads and watches from
     * before it are REVISION_EXPIRED from then on. Every revision from it on
     * stays readable, byte for byte. Makes no revision.
     * Errors: REVISION_IN_FUTURE. Safe to repeat. Cost: that of what is dropped.
     * </pre>
     */
    public void trimHistory(antiphon.history.v1.TrimHistoryRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.TrimHistoryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getTrimHistoryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a new branch with what the source holds at a revision, system record,
     * view and metadata included. Neither side ever sees the other's later
     * writes; deleting or purging the source leaves the fork whole. A call/result
     * pair of which only one side is taken loses its link in the copy.
     * Errors: MESSAGE_NOT_FOUND (up_to_message_id), BRANCH_EXISTS, RESERVED_KEY.
     * Idempotent by request_id. Cost: with FORK_IDS_KEEP the order is copied and
     * no message bytes but those of cut pairs; with FORK_IDS_NEW every message is.
     * Either is one commit: other writes wait in step with the number of messages,
     * and with NEW of their bytes (figures: `docs/operations.md`).
     * </pre>
     */
    public void forkBranch(antiphon.history.v1.ForkBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ForkBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getForkBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams every committed change of a branch after a revision, in order, each
     * at least once; then stays open and sends changes as they are committed, by
     * whichever replica. Resume with the last revision seen. A slow reader falls
     * behind and loses nothing; it costs writers nothing. Ends with BRANCH_DELETED
     * after the change that deleted the branch. Once that branch's bytes are erased
     * the change is the only one left: whoever resumes after an earlier revision
     * gets it at once, and none of those between.
     * Errors: REVISION_EXPIRED, REVISION_IN_FUTURE. Cost: that of the changes.
     * </pre>
     */
    public void watchBranch(antiphon.history.v1.WatchBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.WatchBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams a branch as a self-describing file: the bytes of the chunks, one
     * after another, are UTF-8 text, a JSON record on each line; lines end in LF
     * and in nothing else. The last line is a footer with counts and a hash: a
     * file without it is incomplete. `docs/branch-file.md` has the format.
     * Errors: those of every read. Cost: that of the branch at the revision.
     * </pre>
     */
    public void exportBranch(antiphon.history.v1.ExportBranchRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ExportBranchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getExportBranchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Makes a branch from such a file, of this or any earlier format version: all
     * or nothing. Takes the file's bytes in chunks cut anywhere. Message ids,
     * times, links, view and metadata come back; the incarnation is new.
     * Errors: FIELD_INVALID and SIZE_LIMIT_EXCEEDED (with the line's number in
     * `line`), RESERVED_KEY, BRANCH_EXISTS, BRANCH_DELETED, REQUEST_ID_REUSED.
     * Idempotent by request_id. Cost: that of the file, most of it while the file
     * is read; then it is stored in one commit, and other writes wait in step with
     * the number of messages and their bytes (figures: `docs/operations.md`).
     * </pre>
     */
    public io.grpc.stub.StreamObserver<antiphon.history.v1.ImportBranchRequest> importBranch(
        io.grpc.stub.StreamObserver<antiphon.history.v1.ImportBranchResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getImportBranchMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * Adds or replaces messages, all or none, keeping their order. An id already
     * in the branch is replaced at its index: its content kind must stay, its
     * action links stay, its created_at stays when none is given. Any other
     * message is appended; while a view is selected it enters the view's end. A
     * SystemContent message takes index 0 and the place of the former system
     * record. A response with an action_request_id is linked to its request both
     * ways in the same revision.
     * Errors: FIELD_INVALID (an id twice, two systems, no message, a final
     * response made interim, a replacement that names another request),
     * SIZE_LIMIT_EXCEEDED (over 1,000 messages, a message over 3 MiB),
     * CONTENT_KIND_FIXED, ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED.
     * Idempotent by request_id. Cost: that of the messages, whatever the
     * branch's length; a replacement also counts the messages before it.
     * </pre>
     */
    public void addMessages(antiphon.history.v1.AddMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.AddMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getAddMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Appends the response to an action request: copies the request's function,
     * arguments and provider call id, and links the two both ways in one
     * revision. An interim response carries the link but does not answer.
     * Errors: ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED, FIELD_INVALID (the
     * message id is taken). Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public void respondToAction(antiphon.history.v1.RespondToActionRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RespondToActionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRespondToActionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Sets the branch's one system record at index 0; the former one is gone in
     * the same revision. With the id of the current record, a new version of it.
     * Errors: CONTENT_KIND_FIXED (the id is another message's). Idempotent by
     * request_id. Cost: constant.
     * </pre>
     */
    public void setSystem(antiphon.history.v1.SetSystemRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.SetSystemResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSetSystemMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Removes messages from the branch and its view, all or none, and clears the
     * action links that pointed to them.
     * Errors: MESSAGE_NOT_FOUND (all of them are listed, nothing is removed),
     * SIZE_LIMIT_EXCEEDED (over 1,000 ids), SYSTEM_RECORD_FIXED. Idempotent by
     * request_id. Cost: that of the messages.
     * </pre>
     */
    public void removeMessages(antiphon.history.v1.RemoveMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.RemoveMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRemoveMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Moves one message to another index of the full order. A selected view is
     * not reordered.
     * Errors: MESSAGE_NOT_FOUND, FIELD_INVALID (index out of range),
     * SYSTEM_RECORD_FIXED. Idempotent by request_id. Cost: finding the index
     * scans an index; what is written is constant on the whole.
     * </pre>
     */
    public void moveMessage(antiphon.history.v1.MoveMessageRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.MoveMessageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getMoveMessageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Removes every message but the system record, which then stands alone at
     * index 0. A selected view stays selected.
     * Errors: those of every guarded write. Idempotent by request_id. Cost: that
     * of the messages removed.
     * </pre>
     */
    public void clearMessages(antiphon.history.v1.ClearMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ClearMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getClearMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads messages by id, in the order asked.
     * Errors: MESSAGE_NOT_FOUND (all missing ids), SIZE_LIMIT_EXCEEDED (over
     * 1,000 ids, or a reply over 3.5 MiB; use ListMessages or ReadSnapshot).
     * Cost: that of the messages.
     * </pre>
     */
    public void getMessages(antiphon.history.v1.GetMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.GetMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists a branch's messages in the full order, or against it, filtered by
     * kind. The last assistant response is one page of size 1, descending. Pages
     * by AIP-158: a page may hold fewer messages than asked (it also ends at
     * 3 MiB), the list ends with an empty token. The token pins the revision of
     * the first page, so that pages never overlap or skip.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page, whatever the branch's
     * length; at a past revision also a step for each version that has ended.
     * </pre>
     */
    public void listMessages(antiphon.history.v1.ListMessagesRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ListMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Selects an ordered subset of the branch as its view. Nothing is deleted.
     * Empty is a view. While it is selected, newly added messages enter it at
     * its end; removed ones leave it; a first system record heads it; a replaced
     * system record heads it if one was in it.
     * Errors: PROGRESSION_INVALID (unknown and repeated ids, all listed).
     * Idempotent by request_id. Cost: that of the view.
     * </pre>
     */
    public void selectView(antiphon.history.v1.SelectViewRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.SelectViewResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getSelectViewMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Returns to the full order.
     * Errors: those of every guarded write. Idempotent by request_id. Cost:
     * constant.
     * </pre>
     */
    public void clearView(antiphon.history.v1.ClearViewRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ClearViewResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getClearViewMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams a selection of the branch at one revision: one header, the order
     * in parts, the messages in batches, one footer. A stream without its footer
     * is incomplete. Consistent because it reads at one pinned revision; no
     * transaction stays open between frames. A frame is at most 1 MiB or one
     * message; frames are joined where the caller takes them joined.
     * Errors: PROGRESSION_INVALID. Cost: that of the selection.
     * </pre>
     */
    public void readSnapshot(antiphon.history.v1.ReadSnapshotRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.ReadSnapshotResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getReadSnapshotMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Stores a summary of a stretch of the branch and the view that puts it in
     * the stretch's place, in one revision. Nothing is removed from the branch:
     * the messages summarized stay readable, ClearView returns to them, and
     * past revisions read as they were. Where the view holds a summary already,
     * that record is replaced by this one under its id: a second compaction
     * updates the summary and does not nest one. An empty summary is refused, so
     * it changes nothing.
     * Errors: MESSAGE_NOT_FOUND (ids listed), PROGRESSION_INVALID,
     * CONTENT_KIND_FIXED (the id is another message's), REVISION_IN_FUTURE and
     * REVISION_EXPIRED (planned_revision), REVISION_CONFLICT also when the view's
     * summary was written after planned_revision: another compaction was quicker,
     * and what it summarized would be lost. Idempotent by request_id. Cost: in
     * step with the view and with the changes since planned_revision.
     * </pre>
     */
    public void commitCompaction(antiphon.history.v1.CommitCompactionRequest request,
        io.grpc.stub.StreamObserver<antiphon.history.v1.CommitCompactionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCommitCompactionMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * <pre>
   * Keeps conversations (ADR-0006 as a service).
   * Writes. A write answered OK is on stable storage; it is atomic and makes
   * exactly one new revision of its branch. `expected_revision` guards it:
   * REVISION_CONFLICT unless the branch is at that revision. `request_id` (a
   * UUID in canonical lower-case text; optional, and set by every SDK) makes it
   * safe to send again: the same request under the same id returns the first
   * response with `replayed` set, for at least 24 hours and across restarts;
   * another request under the id is REQUEST_ID_REUSED. Requests are compared by
   * their bytes as received. Checked in this order: the request's fields, replay,
   * deletion, revision, the rules of the write.
   * Reads carry the revision at which they are true and take `at_revision`
   * (1 or more; REVISION_IN_FUTURE beyond the branch's own, REVISION_EXPIRED
   * before its oldest): the order, contents, system record and view as they stood
   * then. What a branch holds at a revision never changes.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB), CREDENTIALS_MISSING,
   * ROLE_NOT_ALLOWED, OVERLOADED, STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and
   * INTERNAL_ERROR; every RPC on a branch also BRANCH_NOT_FOUND and
   * BRANCH_DELETED; every guarded write REVISION_CONFLICT and REQUEST_ID_REUSED;
   * every read REVISION_IN_FUTURE and REVISION_EXPIRED.
   * With tokens configured a caller sees its own tenant only: branches, external
   * keys, request ids and page tokens of another one do not exist for it.
   * </pre>
   */
  public static final class HistoryServiceBlockingStub extends io.grpc.stub.AbstractBlockingStub<HistoryServiceBlockingStub> {
    private HistoryServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected HistoryServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new HistoryServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes an empty branch at revision 1.
     * Errors: BRANCH_EXISTS (the id or the external key is taken), BRANCH_DELETED
     * (the id was a deleted branch's, or the parent was deleted),
     * BRANCH_NOT_FOUND (the parent), RESERVED_KEY, REQUEST_ID_REUSED.
     * Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.CreateBranchResponse createBranch(antiphon.history.v1.CreateBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads what a branch is. Cost: constant at the current revision; at a past
     * one, in step with the branch's length.
     * </pre>
     */
    public antiphon.history.v1.GetBranchResponse getBranch(antiphon.history.v1.GetBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists living branches, oldest first; with an external key prefix, in the
     * order of the keys' UTF-8 bytes. Pages by AIP-158; a branch created while a
     * caller pages may appear, one that stays is listed exactly once.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public antiphon.history.v1.ListBranchesResponse listBranches(antiphon.history.v1.ListBranchesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListBranchesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Replaces a branch's metadata.
     * Errors: RESERVED_KEY. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.UpdateBranchResponse updateBranch(antiphon.history.v1.UpdateBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a branch for good. Its id stays taken (BRANCH_DELETED for late
     * writers, never a resurrection); its external key is free again. Its bytes
     * that no other branch shares are erased at once with `purge`, else after the
     * retention time. Forks of it stay whole. A deleted branch can be purged by a
     * second call with `purge`, which makes no further revision.
     * Errors: those of every guarded write. Idempotent by request_id; without
     * one a second call without `purge` is BRANCH_DELETED. Cost: constant; with
     * `purge`, that of the branch.
     * </pre>
     */
    public antiphon.history.v1.DeleteBranchResponse deleteBranch(antiphon.history.v1.DeleteBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Drops what only revisions before `before_revision` show: replaced versions,
     * removed messages, ended views, older change records. Reads and watches from
     * before it are REVISION_EXPIRED from then on. Every revision from it on
     * stays readable, byte for byte. Makes no revision.
     * Errors: REVISION_IN_FUTURE. Safe to repeat. Cost: that of what is dropped.
     * </pre>
     */
    public antiphon.history.v1.TrimHistoryResponse trimHistory(antiphon.history.v1.TrimHistoryRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getTrimHistoryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Makes a new branch with what the source holds at a revision, system record,
     * view and metadata included. Neither side ever sees the other's later
     * writes; deleting or purging the source leaves the fork whole. A call/result
     * pair of which only one side is taken loses its link in the copy.
     * Errors: MESSAGE_NOT_FOUND (up_to_message_id), BRANCH_EXISTS, RESERVED_KEY.
     * Idempotent by request_id. Cost: with FORK_IDS_KEEP the order is copied and
     * no message bytes but those of cut pairs; with FORK_IDS_NEW every message is.
     * Either is one commit: other writes wait in step with the number of messages,
     * and with NEW of their bytes (figures: `docs/operations.md`).
     * </pre>
     */
    public antiphon.history.v1.ForkBranchResponse forkBranch(antiphon.history.v1.ForkBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getForkBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams every committed change of a branch after a revision, in order, each
     * at least once; then stays open and sends changes as they are committed, by
     * whichever replica. Resume with the last revision seen. A slow reader falls
     * behind and loses nothing; it costs writers nothing. Ends with BRANCH_DELETED
     * after the change that deleted the branch. Once that branch's bytes are erased
     * the change is the only one left: whoever resumes after an earlier revision
     * gets it at once, and none of those between.
     * Errors: REVISION_EXPIRED, REVISION_IN_FUTURE. Cost: that of the changes.
     * </pre>
     */
    public java.util.Iterator<antiphon.history.v1.WatchBranchResponse> watchBranch(
        antiphon.history.v1.WatchBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a branch as a self-describing file: the bytes of the chunks, one
     * after another, are UTF-8 text, a JSON record on each line; lines end in LF
     * and in nothing else. The last line is a footer with counts and a hash: a
     * file without it is incomplete. `docs/branch-file.md` has the format.
     * Errors: those of every read. Cost: that of the branch at the revision.
     * </pre>
     */
    public java.util.Iterator<antiphon.history.v1.ExportBranchResponse> exportBranch(
        antiphon.history.v1.ExportBranchRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getExportBranchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Adds or replaces messages, all or none, keeping their order. An id already
     * in the branch is replaced at its index: its content kind must stay, its
     * action links stay, its created_at stays when none is given. Any other
     * message is appended; while a view is selected it enters the view's end. A
     * SystemContent message takes index 0 and the place of the former system
     * record. A response with an action_request_id is linked to its request both
     * ways in the same revision.
     * Errors: FIELD_INVALID (an id twice, two systems, no message, a final
     * response made interim, a replacement that names another request),
     * SIZE_LIMIT_EXCEEDED (over 1,000 messages, a message over 3 MiB),
     * CONTENT_KIND_FIXED, ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED.
     * Idempotent by request_id. Cost: that of the messages, whatever the
     * branch's length; a replacement also counts the messages before it.
     * </pre>
     */
    public antiphon.history.v1.AddMessagesResponse addMessages(antiphon.history.v1.AddMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getAddMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Appends the response to an action request: copies the request's function,
     * arguments and provider call id, and links the two both ways in one
     * revision. An interim response carries the link but does not answer.
     * Errors: ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED, FIELD_INVALID (the
     * message id is taken). Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.RespondToActionResponse respondToAction(antiphon.history.v1.RespondToActionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRespondToActionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Sets the branch's one system record at index 0; the former one is gone in
     * the same revision. With the id of the current record, a new version of it.
     * Errors: CONTENT_KIND_FIXED (the id is another message's). Idempotent by
     * request_id. Cost: constant.
     * </pre>
     */
    public antiphon.history.v1.SetSystemResponse setSystem(antiphon.history.v1.SetSystemRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSetSystemMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes messages from the branch and its view, all or none, and clears the
     * action links that pointed to them.
     * Errors: MESSAGE_NOT_FOUND (all of them are listed, nothing is removed),
     * SIZE_LIMIT_EXCEEDED (over 1,000 ids), SYSTEM_RECORD_FIXED. Idempotent by
     * request_id. Cost: that of the messages.
     * </pre>
     */
    public antiphon.history.v1.RemoveMessagesResponse removeMessages(antiphon.history.v1.RemoveMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRemoveMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Moves one message to another index of the full order. A selected view is
     * not reordered.
     * Errors: MESSAGE_NOT_FOUND, FIELD_INVALID (index out of range),
     * SYSTEM_RECORD_FIXED. Idempotent by request_id. Cost: finding the index
     * scans an index; what is written is constant on the whole.
     * </pre>
     */
    public antiphon.history.v1.MoveMessageResponse moveMessage(antiphon.history.v1.MoveMessageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getMoveMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes every message but the system record, which then stands alone at
     * index 0. A selected view stays selected.
     * Errors: those of every guarded write. Idempotent by request_id. Cost: that
     * of the messages removed.
     * </pre>
     */
    public antiphon.history.v1.ClearMessagesResponse clearMessages(antiphon.history.v1.ClearMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getClearMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads messages by id, in the order asked.
     * Errors: MESSAGE_NOT_FOUND (all missing ids), SIZE_LIMIT_EXCEEDED (over
     * 1,000 ids, or a reply over 3.5 MiB; use ListMessages or ReadSnapshot).
     * Cost: that of the messages.
     * </pre>
     */
    public antiphon.history.v1.GetMessagesResponse getMessages(antiphon.history.v1.GetMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists a branch's messages in the full order, or against it, filtered by
     * kind. The last assistant response is one page of size 1, descending. Pages
     * by AIP-158: a page may hold fewer messages than asked (it also ends at
     * 3 MiB), the list ends with an empty token. The token pins the revision of
     * the first page, so that pages never overlap or skip.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page, whatever the branch's
     * length; at a past revision also a step for each version that has ended.
     * </pre>
     */
    public antiphon.history.v1.ListMessagesResponse listMessages(antiphon.history.v1.ListMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Selects an ordered subset of the branch as its view. Nothing is deleted.
     * Empty is a view. While it is selected, newly added messages enter it at
     * its end; removed ones leave it; a first system record heads it; a replaced
     * system record heads it if one was in it.
     * Errors: PROGRESSION_INVALID (unknown and repeated ids, all listed).
     * Idempotent by request_id. Cost: that of the view.
     * </pre>
     */
    public antiphon.history.v1.SelectViewResponse selectView(antiphon.history.v1.SelectViewRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getSelectViewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Returns to the full order.
     * Errors: those of every guarded write. Idempotent by request_id. Cost:
     * constant.
     * </pre>
     */
    public antiphon.history.v1.ClearViewResponse clearView(antiphon.history.v1.ClearViewRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getClearViewMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a selection of the branch at one revision: one header, the order
     * in parts, the messages in batches, one footer. A stream without its footer
     * is incomplete. Consistent because it reads at one pinned revision; no
     * transaction stays open between frames. A frame is at most 1 MiB or one
     * message; frames are joined where the caller takes them joined.
     * Errors: PROGRESSION_INVALID. Cost: that of the selection.
     * </pre>
     */
    public java.util.Iterator<antiphon.history.v1.ReadSnapshotResponse> readSnapshot(
        antiphon.history.v1.ReadSnapshotRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getReadSnapshotMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Stores a summary of a stretch of the branch and the view that puts it in
     * the stretch's place, in one revision. Nothing is removed from the branch:
     * the messages summarized stay readable, ClearView returns to them, and
     * past revisions read as they were. Where the view holds a summary already,
     * that record is replaced by this one under its id: a second compaction
     * updates the summary and does not nest one. An empty summary is refused, so
     * it changes nothing.
     * Errors: MESSAGE_NOT_FOUND (ids listed), PROGRESSION_INVALID,
     * CONTENT_KIND_FIXED (the id is another message's), REVISION_IN_FUTURE and
     * REVISION_EXPIRED (planned_revision), REVISION_CONFLICT also when the view's
     * summary was written after planned_revision: another compaction was quicker,
     * and what it summarized would be lost. Idempotent by request_id. Cost: in
     * step with the view and with the changes since planned_revision.
     * </pre>
     */
    public antiphon.history.v1.CommitCompactionResponse commitCompaction(antiphon.history.v1.CommitCompactionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCommitCompactionMethod(), getCallOptions(), request);
    }
  }

  /**
   * <pre>
   * Keeps conversations (ADR-0006 as a service).
   * Writes. A write answered OK is on stable storage; it is atomic and makes
   * exactly one new revision of its branch. `expected_revision` guards it:
   * REVISION_CONFLICT unless the branch is at that revision. `request_id` (a
   * UUID in canonical lower-case text; optional, and set by every SDK) makes it
   * safe to send again: the same request under the same id returns the first
   * response with `replayed` set, for at least 24 hours and across restarts;
   * another request under the id is REQUEST_ID_REUSED. Requests are compared by
   * their bytes as received. Checked in this order: the request's fields, replay,
   * deletion, revision, the rules of the write.
   * Reads carry the revision at which they are true and take `at_revision`
   * (1 or more; REVISION_IN_FUTURE beyond the branch's own, REVISION_EXPIRED
   * before its oldest): the order, contents, system record and view as they stood
   * then. What a branch holds at a revision never changes.
   * Every RPC may also answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB), CREDENTIALS_MISSING,
   * ROLE_NOT_ALLOWED, OVERLOADED, STORE_BUSY, SHUTTING_DOWN, STORE_CORRUPT and
   * INTERNAL_ERROR; every RPC on a branch also BRANCH_NOT_FOUND and
   * BRANCH_DELETED; every guarded write REVISION_CONFLICT and REQUEST_ID_REUSED;
   * every read REVISION_IN_FUTURE and REVISION_EXPIRED.
   * With tokens configured a caller sees its own tenant only: branches, external
   * keys, request ids and page tokens of another one do not exist for it.
   * </pre>
   */
  public static final class HistoryServiceFutureStub extends io.grpc.stub.AbstractFutureStub<HistoryServiceFutureStub> {
    private HistoryServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected HistoryServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new HistoryServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes an empty branch at revision 1.
     * Errors: BRANCH_EXISTS (the id or the external key is taken), BRANCH_DELETED
     * (the id was a deleted branch's, or the parent was deleted),
     * BRANCH_NOT_FOUND (the parent), RESERVED_KEY, REQUEST_ID_REUSED.
     * Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.CreateBranchResponse> createBranch(
        antiphon.history.v1.CreateBranchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateBranchMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads what a branch is. Cost: constant at the current revision; at a past
     * one, in step with the branch's length.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.GetBranchResponse> getBranch(
        antiphon.history.v1.GetBranchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetBranchMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists living branches, oldest first; with an external key prefix, in the
     * order of the keys' UTF-8 bytes. Pages by AIP-158; a branch created while a
     * caller pages may appear, one that stays is listed exactly once.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ListBranchesResponse> listBranches(
        antiphon.history.v1.ListBranchesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListBranchesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Replaces a branch's metadata.
     * Errors: RESERVED_KEY. Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.UpdateBranchResponse> updateBranch(
        antiphon.history.v1.UpdateBranchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateBranchMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a branch for good. Its id stays taken (BRANCH_DELETED for late
     * writers, never a resurrection); its external key is free again. Its bytes
     * that no other branch shares are erased at once with `purge`, else after the
     * retention time. Forks of it stay whole. A deleted branch can be purged by a
     * second call with `purge`, which makes no further revision.
     * Errors: those of every guarded write. Idempotent by request_id; without
     * one a second call without `purge` is BRANCH_DELETED. Cost: constant; with
     * `purge`, that of the branch.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.DeleteBranchResponse> deleteBranch(
        antiphon.history.v1.DeleteBranchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteBranchMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Drops what only revisions before `before_revision` show: replaced versions,
     * removed messages, ended views, older change records. Reads and watches from
     * before it are REVISION_EXPIRED from then on. Every revision from it on
     * stays readable, byte for byte. Makes no revision.
     * Errors: REVISION_IN_FUTURE. Safe to repeat. Cost: that of what is dropped.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.TrimHistoryResponse> trimHistory(
        antiphon.history.v1.TrimHistoryRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getTrimHistoryMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Makes a new branch with what the source holds at a revision, system record,
     * view and metadata included. Neither side ever sees the other's later
     * writes; deleting or purging the source leaves the fork whole. A call/result
     * pair of which only one side is taken loses its link in the copy.
     * Errors: MESSAGE_NOT_FOUND (up_to_message_id), BRANCH_EXISTS, RESERVED_KEY.
     * Idempotent by request_id. Cost: with FORK_IDS_KEEP the order is copied and
     * no message bytes but those of cut pairs; with FORK_IDS_NEW every message is.
     * Either is one commit: other writes wait in step with the number of messages,
     * and with NEW of their bytes (figures: `docs/operations.md`).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ForkBranchResponse> forkBranch(
        antiphon.history.v1.ForkBranchRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getForkBranchMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Adds or replaces messages, all or none, keeping their order. An id already
     * in the branch is replaced at its index: its content kind must stay, its
     * action links stay, its created_at stays when none is given. Any other
     * message is appended; while a view is selected it enters the view's end. A
     * SystemContent message takes index 0 and the place of the former system
     * record. A response with an action_request_id is linked to its request both
     * ways in the same revision.
     * Errors: FIELD_INVALID (an id twice, two systems, no message, a final
     * response made interim, a replacement that names another request),
     * SIZE_LIMIT_EXCEEDED (over 1,000 messages, a message over 3 MiB),
     * CONTENT_KIND_FIXED, ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED.
     * Idempotent by request_id. Cost: that of the messages, whatever the
     * branch's length; a replacement also counts the messages before it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.AddMessagesResponse> addMessages(
        antiphon.history.v1.AddMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getAddMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Appends the response to an action request: copies the request's function,
     * arguments and provider call id, and links the two both ways in one
     * revision. An interim response carries the link but does not answer.
     * Errors: ACTION_REQUEST_UNKNOWN, ACTION_ALREADY_ANSWERED, FIELD_INVALID (the
     * message id is taken). Idempotent by request_id. Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.RespondToActionResponse> respondToAction(
        antiphon.history.v1.RespondToActionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRespondToActionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Sets the branch's one system record at index 0; the former one is gone in
     * the same revision. With the id of the current record, a new version of it.
     * Errors: CONTENT_KIND_FIXED (the id is another message's). Idempotent by
     * request_id. Cost: constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.SetSystemResponse> setSystem(
        antiphon.history.v1.SetSystemRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSetSystemMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Removes messages from the branch and its view, all or none, and clears the
     * action links that pointed to them.
     * Errors: MESSAGE_NOT_FOUND (all of them are listed, nothing is removed),
     * SIZE_LIMIT_EXCEEDED (over 1,000 ids), SYSTEM_RECORD_FIXED. Idempotent by
     * request_id. Cost: that of the messages.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.RemoveMessagesResponse> removeMessages(
        antiphon.history.v1.RemoveMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRemoveMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Moves one message to another index of the full order. A selected view is
     * not reordered.
     * Errors: MESSAGE_NOT_FOUND, FIELD_INVALID (index out of range),
     * SYSTEM_RECORD_FIXED. Idempotent by request_id. Cost: finding the index
     * scans an index; what is written is constant on the whole.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.MoveMessageResponse> moveMessage(
        antiphon.history.v1.MoveMessageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getMoveMessageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Removes every message but the system record, which then stands alone at
     * index 0. A selected view stays selected.
     * Errors: those of every guarded write. Idempotent by request_id. Cost: that
     * of the messages removed.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ClearMessagesResponse> clearMessages(
        antiphon.history.v1.ClearMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getClearMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads messages by id, in the order asked.
     * Errors: MESSAGE_NOT_FOUND (all missing ids), SIZE_LIMIT_EXCEEDED (over
     * 1,000 ids, or a reply over 3.5 MiB; use ListMessages or ReadSnapshot).
     * Cost: that of the messages.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.GetMessagesResponse> getMessages(
        antiphon.history.v1.GetMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists a branch's messages in the full order, or against it, filtered by
     * kind. The last assistant response is one page of size 1, descending. Pages
     * by AIP-158: a page may hold fewer messages than asked (it also ends at
     * 3 MiB), the list ends with an empty token. The token pins the revision of
     * the first page, so that pages never overlap or skip.
     * Errors: PAGE_TOKEN_INVALID. Cost: that of the page, whatever the branch's
     * length; at a past revision also a step for each version that has ended.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ListMessagesResponse> listMessages(
        antiphon.history.v1.ListMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Selects an ordered subset of the branch as its view. Nothing is deleted.
     * Empty is a view. While it is selected, newly added messages enter it at
     * its end; removed ones leave it; a first system record heads it; a replaced
     * system record heads it if one was in it.
     * Errors: PROGRESSION_INVALID (unknown and repeated ids, all listed).
     * Idempotent by request_id. Cost: that of the view.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.SelectViewResponse> selectView(
        antiphon.history.v1.SelectViewRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getSelectViewMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Returns to the full order.
     * Errors: those of every guarded write. Idempotent by request_id. Cost:
     * constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.ClearViewResponse> clearView(
        antiphon.history.v1.ClearViewRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getClearViewMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Stores a summary of a stretch of the branch and the view that puts it in
     * the stretch's place, in one revision. Nothing is removed from the branch:
     * the messages summarized stay readable, ClearView returns to them, and
     * past revisions read as they were. Where the view holds a summary already,
     * that record is replaced by this one under its id: a second compaction
     * updates the summary and does not nest one. An empty summary is refused, so
     * it changes nothing.
     * Errors: MESSAGE_NOT_FOUND (ids listed), PROGRESSION_INVALID,
     * CONTENT_KIND_FIXED (the id is another message's), REVISION_IN_FUTURE and
     * REVISION_EXPIRED (planned_revision), REVISION_CONFLICT also when the view's
     * summary was written after planned_revision: another compaction was quicker,
     * and what it summarized would be lost. Idempotent by request_id. Cost: in
     * step with the view and with the changes since planned_revision.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.history.v1.CommitCompactionResponse> commitCompaction(
        antiphon.history.v1.CommitCompactionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCommitCompactionMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_BRANCH = 0;
  private static final int METHODID_GET_BRANCH = 1;
  private static final int METHODID_LIST_BRANCHES = 2;
  private static final int METHODID_UPDATE_BRANCH = 3;
  private static final int METHODID_DELETE_BRANCH = 4;
  private static final int METHODID_TRIM_HISTORY = 5;
  private static final int METHODID_FORK_BRANCH = 6;
  private static final int METHODID_WATCH_BRANCH = 7;
  private static final int METHODID_EXPORT_BRANCH = 8;
  private static final int METHODID_ADD_MESSAGES = 9;
  private static final int METHODID_RESPOND_TO_ACTION = 10;
  private static final int METHODID_SET_SYSTEM = 11;
  private static final int METHODID_REMOVE_MESSAGES = 12;
  private static final int METHODID_MOVE_MESSAGE = 13;
  private static final int METHODID_CLEAR_MESSAGES = 14;
  private static final int METHODID_GET_MESSAGES = 15;
  private static final int METHODID_LIST_MESSAGES = 16;
  private static final int METHODID_SELECT_VIEW = 17;
  private static final int METHODID_CLEAR_VIEW = 18;
  private static final int METHODID_READ_SNAPSHOT = 19;
  private static final int METHODID_COMMIT_COMPACTION = 20;
  private static final int METHODID_IMPORT_BRANCH = 21;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final HistoryServiceImplBase serviceImpl;
    private final int methodId;

    MethodHandlers(HistoryServiceImplBase serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_CREATE_BRANCH:
          serviceImpl.createBranch((antiphon.history.v1.CreateBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.CreateBranchResponse>) responseObserver);
          break;
        case METHODID_GET_BRANCH:
          serviceImpl.getBranch((antiphon.history.v1.GetBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.GetBranchResponse>) responseObserver);
          break;
        case METHODID_LIST_BRANCHES:
          serviceImpl.listBranches((antiphon.history.v1.ListBranchesRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ListBranchesResponse>) responseObserver);
          break;
        case METHODID_UPDATE_BRANCH:
          serviceImpl.updateBranch((antiphon.history.v1.UpdateBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.UpdateBranchResponse>) responseObserver);
          break;
        case METHODID_DELETE_BRANCH:
          serviceImpl.deleteBranch((antiphon.history.v1.DeleteBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.DeleteBranchResponse>) responseObserver);
          break;
        case METHODID_TRIM_HISTORY:
          serviceImpl.trimHistory((antiphon.history.v1.TrimHistoryRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.TrimHistoryResponse>) responseObserver);
          break;
        case METHODID_FORK_BRANCH:
          serviceImpl.forkBranch((antiphon.history.v1.ForkBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ForkBranchResponse>) responseObserver);
          break;
        case METHODID_WATCH_BRANCH:
          serviceImpl.watchBranch((antiphon.history.v1.WatchBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.WatchBranchResponse>) responseObserver);
          break;
        case METHODID_EXPORT_BRANCH:
          serviceImpl.exportBranch((antiphon.history.v1.ExportBranchRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ExportBranchResponse>) responseObserver);
          break;
        case METHODID_ADD_MESSAGES:
          serviceImpl.addMessages((antiphon.history.v1.AddMessagesRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.AddMessagesResponse>) responseObserver);
          break;
        case METHODID_RESPOND_TO_ACTION:
          serviceImpl.respondToAction((antiphon.history.v1.RespondToActionRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.RespondToActionResponse>) responseObserver);
          break;
        case METHODID_SET_SYSTEM:
          serviceImpl.setSystem((antiphon.history.v1.SetSystemRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.SetSystemResponse>) responseObserver);
          break;
        case METHODID_REMOVE_MESSAGES:
          serviceImpl.removeMessages((antiphon.history.v1.RemoveMessagesRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.RemoveMessagesResponse>) responseObserver);
          break;
        case METHODID_MOVE_MESSAGE:
          serviceImpl.moveMessage((antiphon.history.v1.MoveMessageRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.MoveMessageResponse>) responseObserver);
          break;
        case METHODID_CLEAR_MESSAGES:
          serviceImpl.clearMessages((antiphon.history.v1.ClearMessagesRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ClearMessagesResponse>) responseObserver);
          break;
        case METHODID_GET_MESSAGES:
          serviceImpl.getMessages((antiphon.history.v1.GetMessagesRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.GetMessagesResponse>) responseObserver);
          break;
        case METHODID_LIST_MESSAGES:
          serviceImpl.listMessages((antiphon.history.v1.ListMessagesRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ListMessagesResponse>) responseObserver);
          break;
        case METHODID_SELECT_VIEW:
          serviceImpl.selectView((antiphon.history.v1.SelectViewRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.SelectViewResponse>) responseObserver);
          break;
        case METHODID_CLEAR_VIEW:
          serviceImpl.clearView((antiphon.history.v1.ClearViewRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ClearViewResponse>) responseObserver);
          break;
        case METHODID_READ_SNAPSHOT:
          serviceImpl.readSnapshot((antiphon.history.v1.ReadSnapshotRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ReadSnapshotResponse>) responseObserver);
          break;
        case METHODID_COMMIT_COMPACTION:
          serviceImpl.commitCompaction((antiphon.history.v1.CommitCompactionRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.history.v1.CommitCompactionResponse>) responseObserver);
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
        case METHODID_IMPORT_BRANCH:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.importBranch(
              (io.grpc.stub.StreamObserver<antiphon.history.v1.ImportBranchResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  private static abstract class HistoryServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    HistoryServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return antiphon.history.v1.HistoryServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("HistoryService");
    }
  }

  private static final class HistoryServiceFileDescriptorSupplier
      extends HistoryServiceBaseDescriptorSupplier {
    HistoryServiceFileDescriptorSupplier() {}
  }

  private static final class HistoryServiceMethodDescriptorSupplier
      extends HistoryServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final String methodName;

    HistoryServiceMethodDescriptorSupplier(String methodName) {
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
      synchronized (HistoryServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new HistoryServiceFileDescriptorSupplier())
              .addMethod(getCreateBranchMethod())
              .addMethod(getGetBranchMethod())
              .addMethod(getListBranchesMethod())
              .addMethod(getUpdateBranchMethod())
              .addMethod(getDeleteBranchMethod())
              .addMethod(getTrimHistoryMethod())
              .addMethod(getForkBranchMethod())
              .addMethod(getWatchBranchMethod())
              .addMethod(getExportBranchMethod())
              .addMethod(getImportBranchMethod())
              .addMethod(getAddMessagesMethod())
              .addMethod(getRespondToActionMethod())
              .addMethod(getSetSystemMethod())
              .addMethod(getRemoveMessagesMethod())
              .addMethod(getMoveMessageMethod())
              .addMethod(getClearMessagesMethod())
              .addMethod(getGetMessagesMethod())
              .addMethod(getListMessagesMethod())
              .addMethod(getSelectViewMethod())
              .addMethod(getClearViewMethod())
              .addMethod(getReadSnapshotMethod())
              .addMethod(getCommitCompactionMethod())
              .build();
        }
      }
    }
    return result;
  }
}
